"""What can be evaluated: one folder per kind, found through the registry. A kind's `spec` loads nothing else of it."""
