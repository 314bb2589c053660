-- The schema that all migrations together make; kept for reading. A test holds both equal.

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
    -- a bit for each word of `fact` (hmd/core/similar.py); -1, every bit, where it was not told
    sketch          INTEGER NOT NULL DEFAULT -1,
    CHECK ((superseded_by IS NULL) = (closed_tx IS NULL))
);
CREATE UNIQUE INDEX fact_chain ON fact (superseded_by) WHERE superseded_by IS NOT NULL;
-- The columns from the fourth on let it answer alone. What is in the trash stands in it too, so that
-- forgetting many facts changes few pages.
CREATE INDEX fact_current
    ON fact (subject, valid_from, valid_to, superseded_by, erased_at, archived, project_id, sketch)
    WHERE superseded_by IS NULL AND erased_at IS NULL;
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

-- One row is what learning keeps of one memory beside its content. `supports` is JSON: the episodes
-- it rests on, without text (the cited lines are in `evidence`).
CREATE TABLE learned (
    memory_id     TEXT PRIMARY KEY REFERENCES memory (id),
    key           TEXT NOT NULL,
    supports      TEXT NOT NULL,
    revalidate_at INTEGER,
    replay        TEXT NOT NULL,
    replaces      TEXT NOT NULL,
    lowered_at    INTEGER
) WITHOUT ROWID;

-- One row is one session's voice for a proposal.
CREATE TABLE proposal_claim (
    proposal_id TEXT NOT NULL REFERENCES proposal (id),
    session     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    human       INTEGER NOT NULL CHECK (human IN (0, 1)),
    observed    INTEGER NOT NULL CHECK (observed IN (0, 1)),
    PRIMARY KEY (proposal_id, session)
) WITHOUT ROWID;

-- One row is one command that worked in a project where another had failed.
CREATE TABLE fix (
    project_id TEXT NOT NULL REFERENCES project (id),
    id         TEXT NOT NULL,
    tool       TEXT NOT NULL,
    key        TEXT NOT NULL,
    failure    TEXT NOT NULL,
    signature  TEXT NOT NULL,
    fix        TEXT NOT NULL,
    fix_key    TEXT NOT NULL,
    PRIMARY KEY (project_id, id)
) WITHOUT ROWID;
CREATE INDEX fix_by_its_key ON fix (project_id, fix_key);

-- One row is one time that a fix was seen to work.
CREATE TABLE fix_seen (
    project_id TEXT NOT NULL,
    fix_id     TEXT NOT NULL,
    name       TEXT NOT NULL,
    session    TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (project_id, fix_id, name)
) WITHOUT ROWID;

-- One row is one command (its literal key) that failed in a project, and when it last did.
CREATE TABLE fix_failed (
    project_id TEXT NOT NULL,
    key        TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (project_id, key)
) WITHOUT ROWID;

-- One row is one call of an extraction provider, with its cost. `counts` is JSON.
CREATE TABLE run (
    id            TEXT PRIMARY KEY,
    kind          TEXT NOT NULL CHECK (kind IN ('extraction', 'probe')),
    episode       TEXT NOT NULL,
    project_id    TEXT NOT NULL,
    provider      TEXT NOT NULL,
    model         TEXT NOT NULL,
    status        TEXT NOT NULL,
    message       TEXT NOT NULL,
    started       INTEGER NOT NULL,
    duration_ms   INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cost_usd      REAL,
    exempt        INTEGER NOT NULL CHECK (exempt IN (0, 1)),
    counts        TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX run_started ON run (started);

-- One row is one closed turn segment and its place in the queue. It is no change: a rebuilt
-- database reads the ledgers anew, and a run that was recorded is not made again.
CREATE TABLE episode (
    id           TEXT PRIMARY KEY,
    session      TEXT NOT NULL,
    project      TEXT NOT NULL,
    turn         INTEGER NOT NULL,
    segment      INTEGER NOT NULL,
    started      INTEGER NOT NULL,
    ended        INTEGER NOT NULL,
    closed       TEXT NOT NULL,
    weight       INTEGER NOT NULL,
    correction   INTEGER NOT NULL,
    remember     INTEGER NOT NULL,
    decision     INTEGER NOT NULL,
    state        TEXT NOT NULL CHECK (state IN
                 ('queued', 'leased', 'waiting', 'done', 'no_signal', 'dead', 'dropped')),
    attempts     INTEGER NOT NULL,
    not_before   INTEGER NOT NULL,
    leased_until INTEGER NOT NULL,
    reason       TEXT NOT NULL,
    summary      TEXT NOT NULL,
    told         TEXT NOT NULL,
    run          TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX episode_queue ON episode (correction DESC, ended)
    WHERE state IN ('queued', 'leased', 'waiting');
CREATE INDEX episode_session ON episode (session, turn, segment);

-- One row is how far one session's ledger was read. Like `episode` and `receipt` it is no change.
CREATE TABLE session_read (
    session TEXT PRIMARY KEY,
    size    INTEGER NOT NULL,
    ended   INTEGER NOT NULL,
    open    INTEGER NOT NULL CHECK (open IN (0, 1))
) WITHOUT ROWID;

-- One row is what one rule did in one session in one week (`week`: its Monday).
CREATE TABLE receipt (
    memory      TEXT NOT NULL,
    session     TEXT NOT NULL,
    week        INTEGER NOT NULL,
    fired       INTEGER NOT NULL,
    heeded      INTEGER NOT NULL,
    avoided     INTEGER NOT NULL,
    overridden  INTEGER NOT NULL,
    false_alarm INTEGER NOT NULL,
    last        INTEGER NOT NULL,
    PRIMARY KEY (memory, session, week)
) WITHOUT ROWID;

-- One row is one stored text as a model of embeddings sees it: int8 values that `scale` multiplies.
-- `digest` names the text that was read. It is no change: it can be made again from the text.
CREATE TABLE vector (
    item   TEXT NOT NULL,
    model  TEXT NOT NULL,
    digest TEXT NOT NULL,
    scale  REAL NOT NULL,
    data   BLOB NOT NULL,
    PRIMARY KEY (item, model)
) WITHOUT ROWID;
