"""The gateway to models: budgets, retries, the only holder of keys."""
