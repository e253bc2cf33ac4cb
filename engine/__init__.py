"""Many evaluations at once, for days: islands, the store, Ray, MLflow and the command line."""
