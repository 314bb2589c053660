"""Extraction CLIs of the user's own: one per file, behind one interface."""
