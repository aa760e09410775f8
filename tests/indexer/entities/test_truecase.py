from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.entities.truecase import truecased


def test_lower_case_names_get_capitals_and_abbreviations_all_of_them() -> None:
    text = "напомни ивану петрову про сша, ростов-на-дону и северную корею"
    assert truecased(text) == "напомни Ивану Петрову про США, Ростов-на-Дону и Северную Корею"


def test_a_foreign_surname_beside_a_first_name_is_one() -> None:
    assert truecased("звонил джон шнобблсон") == "звонил Джон Шнобблсон"


def test_a_common_word_is_a_name_only_beside_a_name() -> None:
    assert truecased("роман дочитал") == "роман дочитал"
    assert truecased("звонил роман викторович") == "звонил Роман Викторович"


def test_slang_after_a_name_stays_slang() -> None:
    assert truecased("глянь у кати пж") == "глянь у Кати пж"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=80) | st.text("иваномпетр -ёЁшЮẞİ", max_size=60))
def test_only_case_changes_and_never_the_length(text: str) -> None:
    cased = truecased(text)
    assert len(cased) == len(text)
    assert cased.lower() == text.lower()
