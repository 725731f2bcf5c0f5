"""The studies: one folder each, and the words they are written in."""
