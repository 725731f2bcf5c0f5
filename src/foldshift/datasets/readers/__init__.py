"""Readers of data files: one module per format, and what is inferred about columns."""
