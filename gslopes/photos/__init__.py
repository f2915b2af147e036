"""Photos, with labels if a set has them."""
