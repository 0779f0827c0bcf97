"""Bytes of a document into text with structure."""
