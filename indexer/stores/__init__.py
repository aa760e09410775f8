"""The databases: their writers and readers, each with its queries."""
