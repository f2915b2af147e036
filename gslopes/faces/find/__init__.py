"""Find the face that is edited, and align it."""
