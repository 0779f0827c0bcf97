"""Where data is kept: SQLite on one machine, PostgreSQL on many."""
