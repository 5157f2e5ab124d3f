"""Runs of both functions, and what they show at the stations of their loops."""
