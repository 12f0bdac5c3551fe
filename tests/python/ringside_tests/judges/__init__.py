"""Decides whether a profile, a stack or a picture is right. May use the harness."""
