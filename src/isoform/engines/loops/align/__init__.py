"""Which stations of the two traces correspond: cuts, and the edges between them."""
