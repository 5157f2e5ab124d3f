"""Functions of two files that are the same code: the argument, for one question (`engine.py`) and for `diff`."""
