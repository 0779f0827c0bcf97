"""Work that survives a crash."""
