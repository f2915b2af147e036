"""Biases that were planted, and what an audit recovers of them."""
