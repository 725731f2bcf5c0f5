"""Support vector machines and their parts."""
