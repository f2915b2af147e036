"""The page of a context audit."""
