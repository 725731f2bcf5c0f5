"""Foundations that all packages share: errors, checks of arguments, seeds, compiled code, files."""
