"""Code of users: called in a process of its own where it may do harm, and what it answers is checked."""
