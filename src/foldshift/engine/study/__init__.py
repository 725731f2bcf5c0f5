"""Declarations of studies, and how they are found and run."""
