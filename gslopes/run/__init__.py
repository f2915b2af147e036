"""The corridor: the only place that knows the order of the rooms. Configuration, plan, stages, executors."""
