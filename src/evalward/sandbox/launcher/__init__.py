"""The program that stands between us and a hostile command: it builds the sandbox, starts commands and ends them.

It runs as `python -I -S` with an empty environment and imports nothing but the standard library. Whoever starts it
holds a socket to it; when that closes, for whatever reason, everything that it started ends.
"""
