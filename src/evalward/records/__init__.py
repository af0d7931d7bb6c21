"""What is written down. Plain values, immutable, readable by other programs; nothing here does anything."""
