"""Result files of other harnesses, written as the real programs write them."""
