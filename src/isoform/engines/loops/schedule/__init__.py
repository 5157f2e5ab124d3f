"""Attempts at a proof, and their time slices."""
