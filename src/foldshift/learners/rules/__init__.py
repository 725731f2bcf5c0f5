"""Rule learners."""
