"""Tables of a crop audit."""
