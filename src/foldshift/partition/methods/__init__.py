"""Partitioners as functions of arrays: one module per family."""
