"""Archive of a run, and its comparison with what is here."""
