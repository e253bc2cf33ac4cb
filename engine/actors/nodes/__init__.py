"""Nodes of a cluster: what each gives a campaign, who watches them, what runs on them."""
