"""``gslopes captions``: the order of work of the captions audit: read, parse, measure, report."""

from gslopes.studies.captions.captions import CaptionsAudit, captions
from gslopes.studies.captions.config import CaptionsConfig

__all__ = ["CaptionsAudit", "CaptionsConfig", "captions"]
