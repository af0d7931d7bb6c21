"""Results of other harnesses: their files are read, their trials judged as ours are."""
