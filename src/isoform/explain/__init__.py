"""Root causes: which value of the rewrite should have been which value of the target (seed 004)."""
