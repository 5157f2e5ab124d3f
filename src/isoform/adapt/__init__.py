"""Adaptors: expressions that turn the arguments of one function into those of another (seed 001)."""
