"""How taggers describe people before backgrounds: definitions and statistics, without torch."""
