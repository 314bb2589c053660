"""The commands that calls are made of: recorded ones where they are, else a list of our own."""

import gzip
import json
import os
from pathlib import Path

LIMIT = 500  # characters
CORPORA = Path(os.environ.get("HMD_CORPORA", Path(__file__).parents[2] / "shared" / "data"))

OURS = """\
git status --short
git log --oneline -20 -- src/store
git -C ../other fetch --prune && git -C ../other rebase origin/main
git commit -am "store: close the reader" && git push -u origin HEAD
npm test -- --watch=false
npm run build --workspace packages/web 2>&1 | tail -40
npx tsc --noEmit -p tsconfig.build.json
cd services/billing && poetry run pytest -x -q tests/test_invoice.py::test_rounding
python -m pip install -e '.[dev]'
uv run ruff check . && uv run mypy
cargo test --workspace --all-features -- --nocapture
cargo clippy -- -D warnings
go test ./internal/... -run 'TestParse.*' -count=1
docker compose up -d db && docker compose logs --tail 50 db
docker run --rm -v "$PWD":/src -w /src node:20 npm ci
kubectl -n staging get pods -l app=api -o json | jq -r '.items[].metadata.name'
terraform plan -out plan.bin
ls -la src/ tests/
rg -n 'TODO|FIXME' --glob '!vendor/**' src
find . -name '*.py' -newer setup.cfg -exec grep -l 'import os' {} +
sed -i 's/localhost/127.0.0.1/g' config/dev.env
cat <<'EOF' > notes/today.md
rm -rf build dist *.egg-info
for f in migrations/*.sql; do psql "$DATABASE_URL" -f "$f" || break; done
curl -sS -H 'Accept: application/json' https://api.example.test/v1/items?limit=5
FOO=1 BAR="two words" env -u BAZ make -j4 test
if [ -f .nvmrc ]; then nvm use; fi; node scripts/check.mjs --strict
sudo -u postgres pg_dump -Fc app > /backup/app.dump
ssh deploy@host.example 'cd /srv/app && git pull && systemctl --user restart app'
tar czf - data | gpg --encrypt -r ops@example.test > data.tgz.gpg
gh pr create --fill --base main --draft
bash -lc 'source .venv/bin/activate; pytest -n 2'
xargs -0 -n1 shellcheck < files.txt
timeout 60 make e2e | tee e2e.log; echo "exit ${PIPESTATUS[0]}"
gradle :app:assembleRelease --no-daemon
mvn -q -pl core -am verify -DskipITs
pnpm --filter @acme/web exec vitest run src/cart
""".splitlines()


def commands() -> tuple[list[str], str]:
    """(POSIX shell commands of at most LIMIT characters, where they come from)."""
    path = CORPORA / "commands" / "shell_commands.jsonl.gz"
    if not path.exists():
        return OURS, "own list"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [row["cmd"] for row in rows if 0 < len(row["cmd"]) <= LIMIT]
    return found, "corpus"
