"""The walk: counterfactual faces, what classifiers answer to them, and the slope of the answers."""
