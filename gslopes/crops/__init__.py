"""Whom does an automatic crop keep? Two people side by side, and each photo by itself.

Source: Yee, Tantipongpipat & Mishra 2021, *Image Cropping on Twitter: Fairness Metrics, their Limitations, and the
Importance of Representation, Design, and Agency*, doi 10.1145/3479594. The modules name each difference from the
paper, and why. Parity of counts does not show that a crop is harmless; who is cropped in which context matters, and
the remedy that its authors recommend is to let people choose, or not to crop.
"""
