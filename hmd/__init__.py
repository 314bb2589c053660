"""hmd: memory for coding agents that acts before the mistake.

Imported by every hook process, so this file imports nothing.
"""

__version__ = "0.1.0"
