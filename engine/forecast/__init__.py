"""What a campaign's budget will buy of models: calls, tokens and dollars, told before the first."""
