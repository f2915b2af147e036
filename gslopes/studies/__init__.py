"""Studies that use the walk: other questions than one audit answers, and how well the walk answers its own."""
