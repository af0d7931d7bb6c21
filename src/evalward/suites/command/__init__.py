"""Kind `command`: a request in plain language goes in, one shell command comes out; is it right, safe, portable?

The metrics are those of the specification "Metrics Calculation & Result Aggregation" (caro's WP06), under their own
names.
"""
