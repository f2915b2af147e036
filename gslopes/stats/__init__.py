"""Statistics without tables: one definition of each."""
