"""Runs of both functions, and the states at the stations of their loops."""
