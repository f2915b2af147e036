"""The pipeline: the only place that knows the order of the stages. Configuration, plan, components, stages."""
