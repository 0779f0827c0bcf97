"""What ends, and when: housekeeping, retention, and the erasure of a partner."""
