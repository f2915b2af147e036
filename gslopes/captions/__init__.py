"""``gslopes captions``: the order of work of the captions audit: read, parse, measure, report."""
