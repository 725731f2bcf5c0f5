"""Files of folds, scores, predictions and tables."""
