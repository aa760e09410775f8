from __future__ import annotations

import base64
import hashlib
import re

from schemas.settings import Settings
from service.app import create_app
from tests.fakes.engine import FakeEngine
from tests.fakes.http import ask

RESPONSE = ask(create_app(FakeEngine(), Settings()), "GET", "/")
PAGE = RESPONSE.text


def test_the_page_is_one_russian_file_that_loads_nothing_from_elsewhere() -> None:
    assert RESPONSE.headers["content-type"] == "text/html; charset=utf-8"
    assert '<html lang="ru">' in PAGE
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|\ssrc=", PAGE)


def test_its_policy_allows_its_own_inline_code_by_hash_and_nothing_inline_besides() -> None:
    policy = RESPONSE.headers["content-security-policy"]
    for tag in ("script", "style"):
        (block,) = re.findall(rf"<{tag}>(.*?)</{tag}>", PAGE, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"\son\w+=|\sstyle=", PAGE)


def test_found_text_enters_the_page_as_text_only() -> None:
    assert "textContent" in PAGE
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", PAGE)


def test_both_languages_name_the_same_things_and_every_label_is_named() -> None:
    russian, english = (
        set(
            re.findall(
                r"(?:[{,]|\n)\s*([a-z]\w*): (?=\")",
                PAGE[PAGE.index(f"  {language}: {{") :].partition("\n  }")[0],
            )
        )
        for language in ("ru", "en")
    )
    assert russian == english
    assert set(re.findall(r'data-t="(\w+)"', PAGE)) <= russian
    assert set(re.findall(r'say\("(\w+)"\)', PAGE)) <= russian
