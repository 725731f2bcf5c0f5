"""Learners fitted from sums: discriminant analysis, naive Bayes, MARS, ELM, text."""
