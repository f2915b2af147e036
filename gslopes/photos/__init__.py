"""Photos, with labels where a set has them."""
