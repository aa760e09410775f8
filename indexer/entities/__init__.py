"""Entities: who and what is named in a message, and what stands together."""
