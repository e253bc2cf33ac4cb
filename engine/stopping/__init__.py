"""When a campaign ends before its budgets do, and what these still pay for."""
