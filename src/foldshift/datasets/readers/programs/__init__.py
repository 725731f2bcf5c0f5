"""Readers of files that other programs write: workbooks, JSON, Feather, Stata, SAS; and those that are not read."""
