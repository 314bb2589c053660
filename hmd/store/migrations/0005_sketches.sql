-- So that near-duplicates of a statement are found without reading every statement about its
-- subject. Rows from before have every bit, which rules nothing out. What is in the trash
-- stays in the index, so that forgetting many facts changes few pages.
ALTER TABLE fact ADD COLUMN sketch INTEGER NOT NULL DEFAULT -1;
DROP INDEX fact_current;
CREATE INDEX fact_current
    ON fact (subject, valid_from, valid_to, superseded_by, erased_at, archived, project_id, sketch)
    WHERE superseded_by IS NULL AND erased_at IS NULL;
