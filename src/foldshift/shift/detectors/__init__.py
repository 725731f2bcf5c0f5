"""Tests for shift."""
