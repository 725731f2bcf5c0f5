"""Tests that compare learners."""
