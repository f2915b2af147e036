"""Photos in, answers out: names in ``names``, classifiers in ``classifiers``, their only caller in ``client``."""
