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
