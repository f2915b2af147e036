"""The stage that asks classifiers: the cost that is confirmed first, the questions, the progress on the screen."""
