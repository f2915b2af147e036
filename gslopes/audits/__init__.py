"""Sibling audits: other questions, the same furniture; pure, their order of work is in ``studies``."""
