"""Everything that talks to GitHub: the event, the base commit, the API, the comment, the runner's files.

Nothing here reads the environment, the clock or a global setting by itself: `action` hands everything in.
"""
