-- One row is one belief about the world, whatever became of it (hmd/store/facts.py). It is true
-- from `valid_from` until `valid_to` (as stated) or `closed_at` (as `superseded_by` says), and was
-- believed from `recorded_at` on; an end counts from `closed_tx`, when it was learned. Times are ms
-- since the epoch; tags and links are JSON. What is not told about a fact is '' or null.
CREATE TABLE fact (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    project_id      TEXT REFERENCES project (id),
    seq             INTEGER NOT NULL,
    actor           TEXT NOT NULL,
    authority       TEXT NOT NULL CHECK (authority IN ('human', 'auto')),
    subject         TEXT NOT NULL,
    predicate       TEXT NOT NULL,
    fact            TEXT NOT NULL,
    details         TEXT NOT NULL,
    confidence      REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    importance      INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    kind            TEXT NOT NULL CHECK (kind IN ('semantic', 'episodic', 'procedural')),
    evidence        TEXT NOT NULL,
    source_agent    TEXT NOT NULL,
    source_ref      TEXT NOT NULL,
    "commit"        TEXT NOT NULL,
    path            TEXT NOT NULL,
    blob            TEXT NOT NULL,
    tags            TEXT NOT NULL,
    links           TEXT NOT NULL,
    sensitive       INTEGER NOT NULL CHECK (sensitive IN (0, 1)),
    origin_project  TEXT NOT NULL,
    origin_worktree TEXT NOT NULL,
    origin_session  TEXT NOT NULL,
    origin_host     TEXT NOT NULL,
    valid_from      INTEGER NOT NULL,
    valid_to        INTEGER,
    recorded_at     INTEGER NOT NULL,
    superseded_by   TEXT REFERENCES fact (id),
    closed_at       INTEGER,
    closed_tx       INTEGER,
    retracted_at    INTEGER,
    erased_at       INTEGER,
    -- kept beside a fact, no part of what it says
    pinned          INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    archived        INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
    freshness       TEXT NOT NULL DEFAULT '',
    checked_at      INTEGER,
    checked_head    TEXT NOT NULL DEFAULT '',
    CHECK ((superseded_by IS NULL) = (closed_tx IS NULL))
);
CREATE UNIQUE INDEX fact_chain ON fact (superseded_by) WHERE superseded_by IS NOT NULL;
-- The last three columns let it answer alone.
CREATE INDEX fact_current
    ON fact (subject, valid_from, valid_to, superseded_by, retracted_at, erased_at)
    WHERE superseded_by IS NULL AND retracted_at IS NULL AND erased_at IS NULL;
CREATE INDEX fact_history ON fact (subject, recorded_at);
CREATE INDEX fact_recorded ON fact (recorded_at);
CREATE INDEX fact_closed ON fact (closed_tx) WHERE closed_tx IS NOT NULL;
CREATE INDEX fact_retracted ON fact (retracted_at, erased_at) WHERE retracted_at IS NOT NULL;
CREATE INDEX fact_source ON fact (source_ref) WHERE source_ref <> '';
CREATE INDEX fact_session ON fact (origin_session) WHERE origin_session <> '';
CREATE INDEX fact_anchored ON fact (number)
    WHERE superseded_by IS NULL AND retracted_at IS NULL AND ("commit" <> '' OR path <> '');
CREATE INDEX fact_linked ON fact (number) WHERE links <> '[]';

-- One row is one span in which a fact was forgotten and from which it was brought back.
CREATE TABLE fact_gap (
    fact_id      TEXT NOT NULL REFERENCES fact (id),
    retracted_at INTEGER NOT NULL,
    restored_at  INTEGER NOT NULL,
    PRIMARY KEY (fact_id, retracted_at)
) WITHOUT ROWID;

-- One row is when a fact was last given as an answer. It is no change: the journal knows nothing
-- of it, and a rebuilt database begins anew.
CREATE TABLE fact_access (
    fact_id TEXT PRIMARY KEY,
    at      INTEGER NOT NULL
) WITHOUT ROWID;

-- One row is one change that left no time of its own on the fact that it concerned.
CREATE TABLE fact_event (
    fact_id TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (fact_id, seq)
) WITHOUT ROWID;
CREATE INDEX change_log_at ON change_log (at);

-- One row is one memory in the trash. (A fact there has `retracted_at` and no `erased_at`.)
CREATE TABLE trash (
    memory_id    TEXT PRIMARY KEY REFERENCES memory (id),
    forgotten_at INTEGER NOT NULL,
    -- the status that restoring gives it
    status       TEXT NOT NULL
) WITHOUT ROWID;

-- One row is one thing that must not come back by itself: a keyed hash of a text, a session, a
-- source or a file.
CREATE TABLE tombstone (
    mark TEXT PRIMARY KEY,
    at   INTEGER NOT NULL
) WITHOUT ROWID;

-- One row is one erasing. `done_at` null: files and backups still have to be gone through.
CREATE TABLE erasure (
    id       TEXT PRIMARY KEY,
    at       INTEGER NOT NULL,
    actor    TEXT NOT NULL,
    facts    TEXT NOT NULL,
    memories TEXT NOT NULL,
    done_at  INTEGER
) WITHOUT ROWID;
