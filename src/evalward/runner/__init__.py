"""Who opens and runs what the head wrote: configuration, cases, fixtures, agents, graders. It holds no secret."""
