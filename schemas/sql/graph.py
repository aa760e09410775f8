"""DDL of a generation's `entity_graph.db`, with the seed article's names as views over it."""

VERSION = 2

DDL = (
    """CREATE TABLE entity (
        id INTEGER PRIMARY KEY,   -- in the order of mentions: the most mentioned is 1
        key TEXT NOT NULL UNIQUE, -- equal for all inflections of the name
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        mentions INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        first_at INTEGER,
        last_at INTEGER
    )""",
    """CREATE TABLE entity_key (  -- every merge key, that of the entity itself and those merged into it
        key TEXT PRIMARY KEY, entity INTEGER NOT NULL REFERENCES entity (id)
    ) WITHOUT ROWID""",
    """CREATE TABLE alias (
        entity INTEGER NOT NULL REFERENCES entity (id),
        alias TEXT NOT NULL,
        count INTEGER NOT NULL,
        form TEXT NOT NULL,       -- normal form of the alias
        PRIMARY KEY (entity, alias)
    ) WITHOUT ROWID""",
    """CREATE TABLE mention (
        id INTEGER PRIMARY KEY,
        entity INTEGER NOT NULL REFERENCES entity (id),
        chunk INTEGER NOT NULL,   -- chunk.id of chat_vectors.db of the same generation
        chunk_id TEXT NOT NULL,
        chat_id TEXT NOT NULL,
        message_id TEXT NOT NULL,
        at INTEGER,
        start INTEGER NOT NULL,   -- code points of the message's text
        end INTEGER NOT NULL
    )""",
    """CREATE TABLE relation (
        id INTEGER PRIMARY KEY,
        subject INTEGER NOT NULL REFERENCES entity (id),
        predicate TEXT NOT NULL,
        object INTEGER REFERENCES entity (id),
        object_name TEXT NOT NULL,
        count INTEGER NOT NULL,
        npmi REAL,
        first_at INTEGER,
        last_at INTEGER,
        evidence TEXT,            -- chunk id
        weight REAL NOT NULL      -- how strongly the two go together, 0 to 1
    )""",
    "CREATE VIRTUAL TABLE entity_fts USING fts5(name, forms, tokenize='unicode61 remove_diacritics 0')",
    """CREATE VIEW entities AS
        SELECT e.id AS id, e.name AS name, e.type AS type, m.chunk_id AS chunk_id
        FROM mention m JOIN entity e ON e.id = m.entity""",
    """CREATE VIEW relations AS
        SELECT s.name AS subject, r.predicate AS predicate, r.object_name AS object
        FROM relation r JOIN entity s ON s.id = r.subject""",
)

INDEXES = (
    "CREATE INDEX mention_entity ON mention (entity, chunk)",
    "CREATE INDEX mention_chunk ON mention (chunk_id)",
    # What two entities share, and whom else an entity stands beside.
    "CREATE INDEX mention_together ON mention (chunk, entity)",
    "CREATE INDEX alias_form ON alias (form)",
    "CREATE INDEX entity_recent ON entity (last_at DESC)",
    "CREATE INDEX entity_type ON entity (type)",
    # By weight, so that a name with thousands of relations gives its strongest ones at once.
    "CREATE INDEX relation_subject ON relation (subject, weight DESC)",
    "CREATE INDEX relation_object ON relation (object, weight DESC)",
    "CREATE INDEX relation_pair ON relation (subject, object, weight)",
)
