"""Measure speed and memory: `python -m bench [name …]`. A module with a `measure()` is a measurement."""
