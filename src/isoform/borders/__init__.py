"""The border: what enters and leaves a pair of functions, and what each case rests on (docs/borders.md)."""
