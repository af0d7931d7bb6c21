"""The kind `speedup`: how much faster a change makes a program, and how that compares with the human patch."""
