"""Tables of scores as people have them: read, compared, and checked against the cut that they are said to come from."""
