"""Documents come in and become text."""
