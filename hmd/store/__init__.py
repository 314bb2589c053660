"""Journal, database and snapshot files: what lasts, and who may write it."""
