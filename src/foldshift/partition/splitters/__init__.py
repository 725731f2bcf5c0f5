"""Partitioners as scikit-learn splitters."""
