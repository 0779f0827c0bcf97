"""Assay tells whether documents say what a regulation demands."""

__version__ = "0.1.0"
