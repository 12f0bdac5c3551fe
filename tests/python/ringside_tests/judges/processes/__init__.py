"""Judges whose samples are whose: processes of the bundled kernel and of Linux guests."""
