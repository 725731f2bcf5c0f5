"""Number of repetitions, and variance of the estimate."""
