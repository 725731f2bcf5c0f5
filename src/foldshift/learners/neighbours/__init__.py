"""Nearest-neighbour learners."""
