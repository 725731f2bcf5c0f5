"""Columns of a table: texts, marks for missing values, numbers in dress, dates."""
