"""Loopback servers and a worker that behave like the real thing, and misbehave on demand."""
