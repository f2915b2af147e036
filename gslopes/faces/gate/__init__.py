"""Is a sweep a fair counterfactual? Measured on the pictures, before any classifier sees them."""
