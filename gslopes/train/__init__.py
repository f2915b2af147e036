"""Training: one page of loop per network, recipes as data. Torch is imported with a recipe, not before."""
