"""The arithmetic of a verdict: tests, intervals and limits of what can be seen, exact or in closed form.

Pure and without chance: no seed, no clock, the standard library only. The same counts always give the same numbers.
p_worse is everywhere the one-sided probability of what was observed or worse, if nothing had changed.
"""
