"""Is a sweep a fair counterfactual, and is a model what its card says? Measures on arrays; no input, no output.

manipulation: does the edit move what it should?  leakage: does it move anything else, and did the latent forget?
identity: is it the same person?  realism: does it look like a photo?  reconstruction: how much is lost on the way?
calibration: are a reader's probabilities what they say?  numbers: a value with the ends of its 95 % interval.
"""
