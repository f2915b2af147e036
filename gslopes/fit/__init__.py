"""Tables of answers in, slopes with their uncertainty out.  Pure arithmetic: no I/O, no clock, no device, no torch."""

from gslopes.fit.slopes import curves, fit_slopes

__all__ = ["curves", "fit_slopes"]
