"""Support vector machines and what they share."""
