"""Fuzzes every reader of isoform with damaged files. See `docs/hostile.md`."""
