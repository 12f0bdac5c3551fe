"""Compares ringside's kernel stacks with what gdb and others make of the same states."""
