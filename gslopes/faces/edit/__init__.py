"""Change one attribute of an aligned face, step by step."""
