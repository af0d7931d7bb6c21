"""What Evalward costs: every figure as a ratio that was measured in one run, on whatever machine this is."""
