"""Biases and harms that were planted, and what an audit recovers of them."""
