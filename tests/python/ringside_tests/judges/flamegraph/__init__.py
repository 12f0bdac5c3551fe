"""Judges a flame graph in a browser."""
