"""`python -m isoform` is the command line."""

from isoform.cli import main

main()
