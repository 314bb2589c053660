"""Texts to vectors, in a process of their own."""
