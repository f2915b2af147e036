"""``gslopes census``: who is in a collection of photos, as the reader and people answer."""
