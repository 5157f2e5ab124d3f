"""Rules by which terms are rewritten as they are built.

A rule is a separate function: it takes operands and returns a term that is equal for all values of the operands, or
None if it does not apply. Its docstring states the identity and why it holds. `tests/smt/test_rules.py` checks every
rule against plain numbers for all values of the variables at small widths, and that no rule is left out.

In docstrings x[h:l] are bits h to l of x, x ∘ y is x above y, |x| is the width of x, and c ? x : y is a choice.
"""
