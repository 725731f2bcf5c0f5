"""Reports of drift and of the shift between folds."""
