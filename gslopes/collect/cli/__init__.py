"""The verbs ``collect`` and ``census``."""
