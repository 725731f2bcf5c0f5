"""Comparison of the classification study with the printed numbers."""
