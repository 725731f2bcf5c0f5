"""Ablation of the classification study: one change at a time."""
