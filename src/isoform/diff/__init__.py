"""Which functions of a library changed what they do.

Files become members (`members.py`), members functions (`functions.py`), and these are matched (`matching.py`). What is
the same code is settled at once (`identical.py`); the rest are questions (`ask.py`) that are asked from the callees up
(`plan.py`). `diff.py` is the whole.
"""
