"""What all pages share: the shell, numbers and words, charts, layouts, the review, the quote; no torch."""
