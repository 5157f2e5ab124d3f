"""The border campaign: pairs whose only difference, or only sameness, is where they meet the world (docs/soundness.md).

The truth is known before isoform is asked: the two sides come from one source or from a rewrite that keeps the
meaning, or both are linked with a harness that defines everything outside, and what they do on an emulated CPU is
compared.
"""
