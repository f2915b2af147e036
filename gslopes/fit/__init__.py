"""Tables of answers in, slopes with their uncertainty out.  Pure arithmetic: no I/O, no clock, no device, no torch."""

from gslopes.fit.findings import Findings, analyse
from gslopes.fit.options import FitOptions
from gslopes.fit.slopes import curves, fit_slopes

__all__ = ["Findings", "FitOptions", "analyse", "curves", "fit_slopes"]
