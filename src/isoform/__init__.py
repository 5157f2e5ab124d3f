"""isoform: do these two functions compute the same thing?"""

__version__ = "0.1.0"
