"""DDL of `ledger.db`: the truth, written by the indexer alone."""

VERSION = 2

# How often a kind of source of an archive grew, and since when it is quiet (UTC ms).
_RHYTHM = """CREATE TABLE rhythm (
    root TEXT NOT NULL, kind TEXT NOT NULL, last_at INTEGER NOT NULL, grew INTEGER NOT NULL, noticed INTEGER,
    PRIMARY KEY (root, kind)
) WITHOUT ROWID"""

# What a person has corrected in the entity graph; see `schemas.records.Correction`.
_CORRECTION = """CREATE TABLE correction (
    id INTEGER PRIMARY KEY, action TEXT NOT NULL, key TEXT NOT NULL, value TEXT, at INTEGER NOT NULL
)"""

# Copies of a forgotten message carry other ids: they are known by its origin, or by the hash of its text.
_FORGOTTEN = """CREATE TABLE forgotten (
    chat_id TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL, role TEXT NOT NULL, origin TEXT,
    hash BLOB NOT NULL, at INTEGER, PRIMARY KEY (chat_id, id)
) WITHOUT ROWID"""

DDL = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE source (
        id INTEGER PRIMARY KEY,
        root TEXT NOT NULL,       -- hash of the archive root's absolute path: no home path in our files
        path TEXT NOT NULL,       -- relative to the root
        kind TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        reading TEXT NOT NULL,    -- versions of reader, redactor and the settings that change a reading
        messages INTEGER NOT NULL,
        last_at INTEGER,
        report TEXT NOT NULL,     -- JSON: what was skipped and dropped
        gone INTEGER NOT NULL DEFAULT 0,
        health TEXT,              -- JSON: [place, ailment, sentence, noticed], or NULL
        UNIQUE (root, path)
    )""",
    _RHYTHM,
    """CREATE TABLE chat (
        id TEXT PRIMARY KEY,
        title TEXT,               -- as first seen
        source TEXT NOT NULL,
        stale INTEGER NOT NULL DEFAULT 1 -- its chunks must be cut anew
    ) WITHOUT ROWID""",
    """CREATE TABLE message (
        key INTEGER PRIMARY KEY,
        chat_id TEXT NOT NULL,
        id TEXT NOT NULL,
        source TEXT NOT NULL,
        role TEXT NOT NULL,
        author TEXT,
        author_id TEXT,
        session TEXT,
        agent TEXT,
        side_branch INTEGER NOT NULL,
        at INTEGER,
        edited INTEGER,
        sort_at INTEGER NOT NULL, -- `at`, or the last known time before it in the file
        position INTEGER NOT NULL, -- source row << 32 | place in the file
        reply_to TEXT,
        origin TEXT,              -- an id that is unique over all chats of the source
        copied_from TEXT,         -- the chat whose history this talk repeats
        windows TEXT NOT NULL DEFAULT '[]', -- JSON: [[start, end], …], the chunks of an imported index
        meta TEXT NOT NULL,
        text TEXT NOT NULL,       -- redacted
        hash BLOB NOT NULL,       -- sha256 of the redacted text
        place TEXT NOT NULL,
        recency INTEGER NOT NULL, -- UTC ms of the edit, else of the export; the newest copy wins
        UNIQUE (chat_id, id)
    )""",
    "CREATE INDEX message_hash ON message (hash)",
    "CREATE INDEX message_origin ON message (origin) WHERE origin IS NOT NULL",
    "CREATE INDEX message_source ON message (chat_id, source)",
    "CREATE INDEX message_copied ON message (copied_from) WHERE copied_from IS NOT NULL",
    """CREATE TABLE sighting (
        source INTEGER NOT NULL REFERENCES source (id),
        message INTEGER NOT NULL REFERENCES message (key),
        PRIMARY KEY (source, message)
    ) WITHOUT ROWID""",
    "CREATE INDEX sighting_message ON sighting (message)",
    """CREATE TABLE chunk (
        id TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        ordinal INTEGER NOT NULL,
        session TEXT,
        header TEXT NOT NULL,
        text TEXT NOT NULL,
        pieces TEXT NOT NULL,     -- JSON: [[message id, start, end, message start], …]
        first_at INTEGER,
        last_at INTEGER,
        hash BLOB NOT NULL,       -- sha256 of the embedded text
        PRIMARY KEY (chat_id, ordinal)
    ) WITHOUT ROWID""",
    "CREATE INDEX chunk_hash ON chunk (hash)",
    """CREATE TABLE space (
        id INTEGER PRIMARY KEY,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        dims INTEGER NOT NULL,
        prefix_version INTEGER NOT NULL,
        UNIQUE (provider, model, dims, prefix_version)
    )""",
    """CREATE TABLE vector (
        space INTEGER NOT NULL REFERENCES space (id),
        hash BLOB NOT NULL,
        vector BLOB NOT NULL,     -- little-endian float32, length 1
        UNIQUE (space, hash)
    )""",
    "CREATE INDEX vector_hash ON vector (hash, space)",
    """CREATE TABLE quarantine (
        space INTEGER NOT NULL REFERENCES space (id),
        hash BLOB NOT NULL,
        reason TEXT NOT NULL,
        PRIMARY KEY (space, hash)
    ) WITHOUT ROWID""",
    """CREATE TABLE extraction (
        extractor TEXT NOT NULL,
        hash BLOB NOT NULL,
        mentions TEXT NOT NULL,   -- JSON: [[start, end, type, name, key], …]
        UNIQUE (extractor, hash)
    )""",
    "CREATE TABLE tombstone (chat_id TEXT, message_id TEXT, author TEXT, at INTEGER NOT NULL)",
    _CORRECTION,
    _FORGOTTEN,
    "CREATE INDEX forgotten_hash ON forgotten (hash)",
    "CREATE INDEX forgotten_origin ON forgotten (origin) WHERE origin IS NOT NULL",
    "CREATE TABLE spend (day TEXT, provider TEXT, requests INTEGER NOT NULL, PRIMARY KEY (day, provider))",
    """CREATE TABLE run (
        id INTEGER PRIMARY KEY, started INTEGER NOT NULL, ended INTEGER, exit INTEGER, report TEXT
    )""",
)

# From the version that is the key to the next one.
MIGRATIONS: dict[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE source ADD COLUMN health TEXT",
        _RHYTHM,
        _CORRECTION,
        _FORGOTTEN,
        "CREATE INDEX forgotten_hash ON forgotten (hash)",
        "CREATE INDEX forgotten_origin ON forgotten (origin) WHERE origin IS NOT NULL",
        "ALTER TABLE message ADD COLUMN origin TEXT",
        "ALTER TABLE message ADD COLUMN copied_from TEXT",
        "ALTER TABLE message ADD COLUMN windows TEXT NOT NULL DEFAULT '[]'",
        "CREATE INDEX message_origin ON message (origin) WHERE origin IS NOT NULL",
        "CREATE INDEX message_source ON message (chat_id, source)",
        "CREATE INDEX message_copied ON message (copied_from) WHERE copied_from IS NOT NULL",
    ),
}
