"""The soundness campaign: pairs without end, every verdict on them attacked (see docs/soundness.md)."""
