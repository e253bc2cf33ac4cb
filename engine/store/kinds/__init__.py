"""The kinds of events that a campaign's log is made of, by what they tell of."""
