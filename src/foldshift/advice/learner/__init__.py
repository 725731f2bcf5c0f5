"""Fits of learners, and what they warn of."""
