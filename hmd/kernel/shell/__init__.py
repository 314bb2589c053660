"""Reads the command that an agent is about to run: scanners, tables, canonical form, matching."""
