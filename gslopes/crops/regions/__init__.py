"""Where on the body? Photos alone."""
