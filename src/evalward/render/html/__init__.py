"""The HTML page: one file without requests, complete without scripts, in which every text is a stranger's."""
