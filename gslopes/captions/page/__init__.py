"""The page of a captions audit, and the review on which people read cases."""
