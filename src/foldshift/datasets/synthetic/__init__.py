"""Generated data sets and populations."""
