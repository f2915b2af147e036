"""Tables of answers in, slopes with their uncertainty out.  Pure arithmetic: no I/O, no clock, no device, no torch."""
