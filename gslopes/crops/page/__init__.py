"""The page of a crop audit."""
