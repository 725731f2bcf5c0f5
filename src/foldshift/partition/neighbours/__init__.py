"""Search for the nearest unassigned samples."""
