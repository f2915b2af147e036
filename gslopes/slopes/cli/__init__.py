"""The verbs of the walk, one file each."""
