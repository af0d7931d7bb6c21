"""Kind `scenario`: a coding agent works with a CLI tool in a copy of a fixture, and three layers are measured.

The definitions are those of the specification "Evaluation" of llm-tool-test, under their own names.
"""
