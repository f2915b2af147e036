"""What captions do to people: five harms, each through several techniques; pure functions on facts and arrays.

Source: Wang, Barocas, Laird & Wallach 2022, Measuring Representational Harms in Image Captioning, arXiv 2206.07173.
The taxonomy of harms is by Katzman et al. 2021.
"""
