"""Suites of prompt files: the messages of a `.prompt.yml`, filled with each row of its test data; its evaluators."""
