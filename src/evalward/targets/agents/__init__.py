"""Coding agents: programs that work in a folder with commands of their own, and the scripts that stand in for them."""
