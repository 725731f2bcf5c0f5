"""Running of jobs: logs, limits, user-defined code, failures."""
