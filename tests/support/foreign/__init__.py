"""Files of other harnesses, as they write them."""
