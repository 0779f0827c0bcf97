"""Frameworks: what the law demands of a document, written so that people and the engine can read it."""
