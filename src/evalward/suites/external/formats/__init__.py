"""One file per format of another harness: what it is recognised by, and how its trials are read."""
