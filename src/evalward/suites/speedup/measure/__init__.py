"""Measuring a task: untouched code, human patch and change, each in a copy of its own, in turns."""
