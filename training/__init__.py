"""How the models that ship were made and measured: recipes, trainings, evaluations, studies. Run from a checkout."""
