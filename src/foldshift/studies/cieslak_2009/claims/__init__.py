"""The claims of the paper, each with a verdict."""
