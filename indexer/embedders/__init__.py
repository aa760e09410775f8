"""Embedders: one file a provider, one vector space each.

To add one: write `indexer/embedders/<name>.py` with a class that satisfies `Embedder`, and list it in
EMBEDDERS. The conformance test runs over the dict.
"""
