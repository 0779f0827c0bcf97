"""What experts say of findings, and how often they agree."""
