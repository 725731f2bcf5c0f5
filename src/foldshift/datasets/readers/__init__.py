"""Readers of data files: one module per format, and inference about columns."""
