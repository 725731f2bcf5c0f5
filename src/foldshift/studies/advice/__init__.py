"""Advice for many data sets and learners."""
