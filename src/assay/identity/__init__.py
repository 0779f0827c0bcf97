"""Who stands behind a request: partners, tokens, the gateway rule, the embedded issuer."""
