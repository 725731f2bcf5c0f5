"""Cuts for rows that belong together in time, in space or by where they come from, as array functions."""
