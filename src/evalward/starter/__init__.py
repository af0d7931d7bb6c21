"""What a repository needs to begin with: found in it, within bounds, and planned as files. Nothing of it is run."""
