"""The pages of a captions audit."""
