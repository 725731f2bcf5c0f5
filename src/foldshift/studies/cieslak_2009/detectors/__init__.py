"""Detectors that the monitoring study compares."""
