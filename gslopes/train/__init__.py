"""Training: one page of loop per network, recipes as data."""

from gslopes.train.recipe import Recipe, find_recipe, run_recipe

__all__ = ["Recipe", "find_recipe", "run_recipe"]
