"""Who runs the head's code: configuration, cases, fixtures, agents, graders. It holds no secret, and says what it saw."""
