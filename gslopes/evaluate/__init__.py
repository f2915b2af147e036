"""What a shipped model reaches on people that no model has learned from."""
