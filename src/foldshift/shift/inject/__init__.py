"""Shift injected on purpose."""
