"""Measures how fast hmd is, as ratios against references taken in the same run. Asserts nothing."""
