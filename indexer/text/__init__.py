"""The one normal form of text, shared by index and query."""
