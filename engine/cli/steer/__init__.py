"""The commands that ask something of a campaign while it runs."""
