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
