import pytest

from indexer.entities import Extractor


@pytest.fixture(scope="session")
def slovnet() -> Extractor:
    return Extractor("slovnet")


@pytest.fixture(scope="session")
def patterns() -> Extractor:
    return Extractor("patterns")
