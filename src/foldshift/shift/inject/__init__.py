"""Inject shift on purpose."""
