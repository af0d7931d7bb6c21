"""Judgements and reports as people read them: Markdown and terminal. Pure functions of records.

Import the module that you need: `markdown`, `terminal`, `escape`, `numbers`, `context`.
"""
