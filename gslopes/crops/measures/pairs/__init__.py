"""Pairs of people, one favoured over the other: shares with intervals over people, ratios, aggregates, strengths."""

from gslopes.crops.measures.pairs.aggregate import WEIGHTINGS, aggregate
from gslopes.crops.measures.pairs.impact import Impact, disparate_impact, kept_impact, verdict
from gslopes.crops.measures.pairs.opponents import PairSlope, pair_slope, slopes_of
from gslopes.crops.measures.pairs.parity import Parity, draws_half, half_width, logit_interval, parity
from gslopes.crops.measures.pairs.resample import draw_weights, resampled, simultaneous
from gslopes.crops.measures.pairs.strengths import Strengths, bradley_terry, bradley_terry_errors

__all__ = [
    "WEIGHTINGS",
    "Impact",
    "PairSlope",
    "Parity",
    "Strengths",
    "aggregate",
    "bradley_terry",
    "bradley_terry_errors",
    "disparate_impact",
    "draw_weights",
    "draws_half",
    "half_width",
    "kept_impact",
    "logit_interval",
    "pair_slope",
    "parity",
    "resampled",
    "simultaneous",
    "slopes_of",
    "verdict",
]
