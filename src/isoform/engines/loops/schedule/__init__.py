"""Attempts at a proof, and how they take turns."""
