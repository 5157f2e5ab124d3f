"""The words that all of isoform shares, as values. Nothing here imports any other part of isoform."""
