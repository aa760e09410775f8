"""Readers: one file a format, found by content.

To add one: write `indexer/archives/<name>.py` with a class that satisfies `Reader`, and list it in READERS.
The conformance test runs over the dict, so the new reader is tested the moment it is listed.
"""
