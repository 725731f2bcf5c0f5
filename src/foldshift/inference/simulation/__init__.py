"""Simulation of cross-validation where the truth is known."""
