"""Which stations of the two traces belong together: cuts, and the edges between them."""
