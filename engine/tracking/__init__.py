"""What MLflow is shown of a store. MLflow is imported here only."""
