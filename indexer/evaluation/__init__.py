"""Measures what the index is made of, against gold that the owner has; never a part of a build."""
