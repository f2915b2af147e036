"""Does the background decide who is seen?  The context audit (Barlas et al. 2020): people on gendered backgrounds."""
