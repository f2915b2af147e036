"""Duels along a sweep of counterfactual photos."""
