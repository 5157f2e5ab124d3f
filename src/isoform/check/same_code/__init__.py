"""Certificates of the same code, re-derived from the bytes of both files. Nothing of `diff` or of the lifter is used:
instructions are decoded by capstone and compared as bytes, apart from the addresses in them."""
