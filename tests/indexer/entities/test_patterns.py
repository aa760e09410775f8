import time

import pytest

from indexer.entities.patterns import found

EXAMPLES = [
    ("см. https://docs.example.com/memory), там", "https://docs.example.com/memory", "URL"),
    (
        "вики https://ru.wikipedia.org/wiki/Граф_(математика)!",
        "https://ru.wikipedia.org/wiki/Граф_(математика)",
        "URL",
    ),
    ("домен myagent.dev до осени", "myagent.dev", "URL"),
    ("пиши на ivan.petrov@example.com.", "ivan.petrov@example.com", "EMAIL"),
    ("канал @cronbun молчит", "@cronbun", "HANDLE"),
    ("тег #память поставил", "#память", "HASHTAG"),
    ("лежит в /usr/local/bin.", "/usr/local/bin", "PATH"),
    ("файл src/app/main.py упал", "src/app/main.py", "PATH"),
    (r"на диске C:\Users\ivan\notes", r"C:\Users\ivan\notes", "PATH"),
    ("правь build_vector_index.py срочно", "build_vector_index.py", "FILE"),
    ("секреты в .env лежат", ".env", "FILE"),
    ("задай GEMINI_API_KEY сам", "GEMINI_API_KEY", "ENV"),
    ("обнови до v1.2.3, ок", "v1.2.3", "VERSION"),
    ("python 3.11.4 стоит", "3.11.4", "VERSION"),
    ("возьми gpt-4o и всё", "gpt-4o", "MODEL"),
    ("qwen3.5-27b быстрее", "qwen3.5-27b", "MODEL"),
    ("эмбеддер bge-m3 лучше", "bge-m3", "MODEL"),
    ("claude-sonnet-4.5 пишет", "claude-sonnet-4.5", "MODEL"),
    ("это GPT 5 сказал", "GPT 5", "MODEL"),
    ("стоит 120 000 ₽ в год", "120 000 ₽", "MONEY"),
    ("за $5.50 в день", "$5.50", "MONEY"),
    ("3 млн руб. долга", "3 млн руб.", "MONEY"),
    ("до 01.12.2026 успеем", "01.12.2026", "DATE"),
    ("с 2022-03-14T10:00 так", "2022-03-14", "DATE"),
    ("жду 5 июня вечером", "5 июня", "DATE"),
    ("on March 3, 2026 we met", "March 3, 2026", "DATE"),
    ("сервер 127.0.0.1:8077 жив", "127.0.0.1:8077", "IP"),
    ("адрес fe80::1 тоже", "fe80::1", "IP"),
    ("в `embed` баг", "embed", "CODE"),
    ("ошибка в embed_batch снова", "embed_batch", "CODE"),
    ("класс ChatVectorStore готов", "ChatVectorStore", "CODE"),
    ("зови search() сам", "search()", "CODE"),
    ("пишу на C# давно", "C#", "NAME"),
    ("модуль на F#, да", "F#", "NAME"),
    ("под .NET собрали", ".NET", "NAME"),
]


@pytest.mark.parametrize("text, surface, type_", EXAMPLES, ids=[surface for _, surface, _ in EXAMPLES])
def test_a_pattern_takes_exactly_its_own_span(text: str, surface: str, type_: str) -> None:
    assert [(text[span.start : span.end], span.type) for span in found(text)] == [(surface, type_)]


@pytest.mark.parametrize(
    "text",
    [
        "и/или",
        "12:30",
        "т.е. и т.д.",
        "node.js и Vue.js",
        "1.5 часа",
        "999.1.1.1.1",
        "claude и phi",
        "C++",
        "#fff000",
        "a@b",
    ],
)
def test_what_only_looks_like_a_pattern_is_none(text: str) -> None:
    assert list(found(text)) == []


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "a-",
        "1 ",
        "1.",
        "/a",
        "aA",
        "_a",
        "(",
        "https://a)",
        "a@",
        "gpt-",
        "0:",
        "111 ",
        "А_",
        "5 мая ",
    ],
)
def test_the_time_is_linear_in_hostile_text(unit: str) -> None:
    text = unit * (40_000 // len(unit))
    began = time.process_time()
    list(found(text))
    assert time.process_time() - began < 2.0
