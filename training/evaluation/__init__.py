"""What a model reaches on people that no model has learned from, and its card."""
