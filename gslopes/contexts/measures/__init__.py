"""What taggers say of people before backgrounds: definitions and statistics, without torch."""
