"""Suites of kind `skill`: whether agents load a repository's skills when they should, and what these change."""
