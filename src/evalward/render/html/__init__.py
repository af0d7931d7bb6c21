"""The HTML page: one document with everything in it."""
