"""Proof of a guess: both sides are executed symbolically from cut to cut, and every obligation is asked."""
