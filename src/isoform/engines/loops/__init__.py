"""Loops: cuts and invariants guessed from runs, proved by SMT (seed 003)."""
