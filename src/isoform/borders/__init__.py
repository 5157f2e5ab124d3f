"""The border: what enters and leaves a pair of functions, and the assumption that each case rests on (docs/borders.md)."""
