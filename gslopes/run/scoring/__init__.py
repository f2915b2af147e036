"""The stage that asks classifiers: what it must agree with first, what it costs, how it is shown."""
