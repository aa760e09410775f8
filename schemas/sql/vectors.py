"""DDL of a generation's `chat_vectors.db`: chunks, messages, their full text and their vectors."""

VERSION = 1

# Big pages: vec0 inserts are ten times faster than with the default 4096.
PAGE_SIZE = 16384

# The built-in tokeniser alone: a custom one would lock every other sqlite3 out. Folding is done before.
_FTS = "USING fts5(raw, lemma, content='', tokenize='unicode61 remove_diacritics 0')"

DDL = (
    """CREATE TABLE chat (
        id INTEGER PRIMARY KEY, chat_id TEXT NOT NULL UNIQUE, title TEXT, source TEXT NOT NULL
    )""",
    """CREATE TABLE message (
        id INTEGER PRIMARY KEY,
        message_id TEXT NOT NULL,
        chat INTEGER NOT NULL REFERENCES chat (id),
        session TEXT,
        role TEXT NOT NULL,
        author TEXT,
        author_id TEXT,
        agent TEXT,
        source TEXT NOT NULL,
        at INTEGER,               -- UTC milliseconds
        text TEXT NOT NULL,
        UNIQUE (chat, message_id)
    )""",
    """CREATE TABLE chunk (
        id INTEGER PRIMARY KEY,   -- in the order of the talk
        chunk_id TEXT NOT NULL UNIQUE,
        chat INTEGER NOT NULL REFERENCES chat (id),
        session TEXT,
        ordinal INTEGER NOT NULL,
        header TEXT NOT NULL,
        text TEXT NOT NULL,
        first_at INTEGER,
        last_at INTEGER
    )""",
    """CREATE TABLE chunk_message (
        chunk INTEGER NOT NULL REFERENCES chunk (id),
        message INTEGER NOT NULL REFERENCES message (id),
        start INTEGER NOT NULL,
        end INTEGER NOT NULL,
        message_start INTEGER NOT NULL,
        PRIMARY KEY (chunk, message)
    ) WITHOUT ROWID""",
    f"CREATE VIRTUAL TABLE chunk_fts {_FTS}",
    f"CREATE VIRTUAL TABLE message_fts {_FTS}",
    """CREATE TABLE space (
        id INTEGER PRIMARY KEY,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        dims INTEGER NOT NULL,
        prefix_version INTEGER NOT NULL,
        weight REAL NOT NULL,
        vectors INTEGER NOT NULL
    )""",
)

INDEXES = ("CREATE INDEX chunk_message_message ON chunk_message (message)",)


def vec_table(space: int) -> str:
    """The name of a space's vec0 table."""
    return f"vec_{space}"


def vec_ddl(space: int, dims: int) -> str:
    """vec0 over the chunks of one space; the default metric would be L2."""
    return (
        f"CREATE VIRTUAL TABLE {vec_table(space)} USING vec0("
        f"embedding int8[{dims}] distance_metric=cosine, chunk_size=256)"
    )
