"""Structure of a table: groups, time, space, copies, leaks; checks that look for it, and the cut that respects it."""
