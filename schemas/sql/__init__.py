"""DDL and schema versions of every database."""
