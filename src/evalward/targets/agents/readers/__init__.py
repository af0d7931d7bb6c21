"""What agents print, read into our records. Each takes the whole output, and passes over what it doesn't know."""
