"""What the process that holds the keys does: it opens nothing that a stranger wrote."""
