"""Boots guests, runs ringside on them and reads what it writes. Knows nothing of judges."""
