"""Configuration: read, merge, check, and turn into runs."""
