"""The people on the photos, and each photo by itself."""
