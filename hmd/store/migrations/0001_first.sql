-- One row says one thing about the database itself: `applied_seq` is the newest journal line that
-- it contains, `created` when it was made (ms since the epoch).
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One row is one change, in the order of the journal; what changed in full is the journal's.
-- The ids name what it was about; several subjects (a batch) are not named.
CREATE TABLE change_log (
    seq         INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    kind        TEXT NOT NULL,
    memory_id   TEXT,
    project_id  TEXT,
    proposal_id TEXT
);

-- One row is one project, known by a random id wherever it lies. `merged_into` and `forgotten_at`
-- hide it; it is never deleted.
CREATE TABLE project (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    enabled      INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    remote       TEXT NOT NULL DEFAULT '',
    root_commit  TEXT NOT NULL DEFAULT '',
    created      INTEGER NOT NULL,
    merged_into  TEXT REFERENCES project (id),
    forgotten_at INTEGER,
    -- newest change that altered what its snapshot holds
    last_seq     INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- One row is one place on disk where a project lies now: a git common directory, or a directory.
CREATE TABLE project_location (
    location   TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    added      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX project_location_project ON project_location (project_id);

-- One row is one memory, whatever became of it, and where it was first learned.
CREATE TABLE memory (
    id              TEXT PRIMARY KEY,
    created         INTEGER NOT NULL,
    origin_project  TEXT NOT NULL DEFAULT '',
    origin_worktree TEXT NOT NULL DEFAULT '',
    origin_session  TEXT NOT NULL DEFAULT '',
    origin_host     TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- One row is what was believed of a memory from `recorded_at` until `superseded_at` (null: still),
-- about the span of the world from `valid_from` until `valid_to`. A `valid_to` is known only from
-- `superseded_at` on. Times are ms since the epoch; triggers, tools, sig and aliases are JSON.
CREATE TABLE memory_version (
    id            TEXT PRIMARY KEY,
    memory_id     TEXT NOT NULL REFERENCES memory (id),
    -- null: holds for the user everywhere
    project_id    TEXT REFERENCES project (id),
    seq           INTEGER NOT NULL,
    actor         TEXT NOT NULL,
    change        TEXT NOT NULL,
    type          TEXT NOT NULL,
    summary       TEXT NOT NULL,
    details       TEXT NOT NULL,
    scope         TEXT NOT NULL,
    triggers      TEXT NOT NULL,
    tools         TEXT,
    sig           TEXT,
    level         TEXT NOT NULL CHECK (level IN ('advise', 'confirm', 'soft_deny', 'deny')),
    authority     TEXT NOT NULL CHECK (authority IN ('human', 'auto')),
    evidence      TEXT NOT NULL,
    confidence    REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    importance    REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
    policy        TEXT CHECK (policy IN ('hard', 'soft')),
    status        TEXT NOT NULL
                  CHECK (status IN ('candidate', 'active', 'stale', 'superseded', 'rejected')),
    note          TEXT NOT NULL,
    baseline      INTEGER NOT NULL CHECK (baseline IN (0, 1)),
    loaded        TEXT NOT NULL,
    aliases       TEXT NOT NULL,
    source        TEXT NOT NULL,
    source_ref    TEXT NOT NULL,
    knowledge     TEXT NOT NULL,
    unconfirmed   INTEGER NOT NULL CHECK (unconfirmed IN (0, 1)),
    contested     INTEGER NOT NULL CHECK (contested IN (0, 1)),
    validations   INTEGER NOT NULL,
    expires       INTEGER,
    valid_from    INTEGER NOT NULL,
    valid_to      INTEGER,
    recorded_at   INTEGER NOT NULL,
    superseded_at INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX memory_version_current
    ON memory_version (memory_id) WHERE superseded_at IS NULL;
CREATE INDEX memory_version_history ON memory_version (memory_id, seq);
CREATE INDEX memory_version_live
    ON memory_version (project_id, status, memory_id) WHERE superseded_at IS NULL;

-- One row is one thing that a memory rests on, copied here because its source may go away.
-- `version_id` is the version that brought it.
CREATE TABLE evidence (
    id         TEXT PRIMARY KEY,
    memory_id  TEXT NOT NULL REFERENCES memory (id),
    version_id TEXT NOT NULL REFERENCES memory_version (id),
    kind       TEXT NOT NULL,
    ref        TEXT NOT NULL,
    excerpt    TEXT NOT NULL,
    session    TEXT NOT NULL,
    weight     REAL NOT NULL,
    recorded_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX evidence_memory ON evidence (memory_id);

-- One row is one suggestion to a person, open or decided. `changes` is what accepting it applies,
-- as the journal writes it. `support` counts the claims, `target` and `candidate` are '' for none.
CREATE TABLE proposal (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    target     TEXT NOT NULL,
    candidate  TEXT NOT NULL,
    -- tells apart different wishes of one kind about one target
    claim      TEXT NOT NULL,
    project_id TEXT REFERENCES project (id),
    reason     TEXT NOT NULL,
    actor      TEXT NOT NULL,
    changes    TEXT NOT NULL,
    support    INTEGER NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'rejected', 'expired')),
    opened_at  INTEGER NOT NULL,
    expires_at INTEGER,
    decided_at INTEGER,
    decided_by TEXT NOT NULL DEFAULT '',
    note       TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX proposal_open ON proposal (kind, target, candidate, claim) WHERE state = 'open';
