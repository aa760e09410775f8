"""The measure of a search: judged queries, metrics with intervals, baselines and ablations."""
