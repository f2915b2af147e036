"""From answers to measures."""
