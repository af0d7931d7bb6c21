"""What changed, and what that means. Pure functions of records: no clock, no environment, no network."""
