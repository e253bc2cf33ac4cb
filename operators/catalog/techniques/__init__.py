"""Named techniques of the catalogue, by the problem they are for."""
