"""Kind `bash`: a model works with a shell, and what it leaves is checked.

The metrics are those of the specification "LLM-Bashkit Metrics" (bashkit's Spec 013), under their own names.
"""
