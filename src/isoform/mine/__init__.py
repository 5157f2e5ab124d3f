"""Adaptors between all functions of one or two libraries (seed 001, section 4.1.1.3).

`functions.py` reads and lifts every function once, `observe.py` runs it on inputs that are the same for all, `sieve.py`
refutes pairs by these runs, `pair.py` looks for the adaptor of a pair that is left, and `mine.py` puts it together."""
