"""Signatures beside the spellings they take and the neighbours they must leave alone."""

import pytest

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.match import matches, parse_signature

# (signature, commands that are it, commands that are not)
PAIRS = [
    (
        "rm -rf",
        [
            "rm --recursive --force x",
            "rm -Rf x",
            "rm x -rf",
            "rm -rfv x",
            "rm -{r,f} x",
            "rm --rec --force x",
            "rm -r x --force",
            "xargs -0 rm -rf",
            "fd x -x rm -rf",
            "ls | xargs -I% rm -rf %",
            "parallel rm -rf ::: a b",
            "find . -exec sh -c 'rm -rf \"$1\"' _ {} \\;",
            "busybox rm -rf x",
            "toybox rm -rf x",
        ],
        [
            "rm -r x",
            "rm -f x",
            "rm -- -rf",
            "rm --help",
            "git rm -rf x",
            "docker rm -f x",
            "ls -rf",
        ],
    ),
    (
        "curl | sh",
        [
            "curl https://h/i | bash",
            "curl -fsSL https://h/i | sudo sh -",
            "curl x | tee f | sh",
            "curl x | gunzip | zsh",
            "curl x | sudo -E bash -s -- --yes",
            "curl x 2>/dev/null | env A=1 /bin/sh",
            "sudo bash -c 'curl x | sh'",
            "bash <(curl x)",
            'sh -c "$(curl -fsSL x)"',
            'eval "$(curl x)"',
            "source <(curl x)",
        ],
        [
            "curl -s https://h/x | jq . > share/out.json",
            "curl x > f; sh f",
            "curl x; ls | sh",
            "curl x | grep sh",
            "sh x.sh | curl x",
            "curl x && sh y.sh",
            "curl x | sh x.sh",
        ],
    ),
    (
        "npm test",
        [
            "npm t",
            "npm tst",
            "npm run test",
            "npm run-script test",
            "npm --prefix a test",
            "npm test -- --watch",
            "npm -w a test",
            "npm run test --silent",
            "npm run --silent test",
        ],
        [
            "pnpm test",
            "yarn test",
            "npm run test:unit",
            "npm install test",
            "npm run build -- test",
        ],
    ),
    (
        "pm test",
        ["npm t", "pnpm run test", "yarn test", "bun run test", "deno task test"],
        ["bun test", "go test", "cargo test"],
    ),
    (
        "pm install",
        ["npm ci", "npm i", "yarn", "pnpm install", "bun i", "npm install --prefix x"],
        ["npm i x", "pip install", "pnpm add x"],
    ),
    (
        "pypm install",
        [
            "pip install x",
            "pip3 install x",
            "python -m pip install x",
            "uv pip install x",
            "python3.12 -m pip install -U x",
        ],
        ["npm i x", "uv sync", "pip download x"],
    ),
    (
        "bin vitest run",
        [
            "npx vitest run",
            "npx --yes vitest@latest run",
            "npm exec vitest -- run",
            "pnpm vitest run",
            "pnpm exec vitest run",
            "yarn vitest run",
            "bunx vitest run",
            "node_modules/.bin/vitest run",
            "vitest run",
        ],
        ["vitest", "npx vitest", "echo vitest run"],
    ),
    (
        "pytest",
        [
            "python -m pytest -q",
            "python3 -mpytest",
            "python -Im pytest",
            "uv run pytest",
            "uv run -m pytest",
            "uv run --with x pytest",
            "poetry run python -m pytest",
            "coverage run -m pytest",
            "hatch run pytest",
            "tox exec -- pytest",
            ".venv/bin/pytest x",
        ],
        ["pip install pytest", "which pytest", "grep pytest x"],
    ),
    (
        "docker compose up",
        [
            "docker-compose up -d",
            "docker compose -f x.yml up",
            "docker compose -f x --profile y up -d",
            "docker --context z compose up",
        ],
        ["docker compose down", "docker compose run up", "docker compose exec web up"],
    ),
    (
        "docker compose exec web npm test",
        [
            "docker compose exec -T web npm test",
            "docker compose -f x exec web npm test",
            'docker-compose exec web sh -c "npm test"',
        ],
        ["npm test", "docker compose exec api npm test"],
    ),
    (
        "gh pr merge",
        ["gh pr --repo r merge 1", "gh -R r pr merge", "gh pr merge --squash"],
        ["gh pr view merge", "gh pr create -t merge", "gh issue view"],
    ),
    (
        "gh api -X DELETE",
        ["gh api -X DELETE repos/x", "gh api repos/x -X DELETE", "gh api repos/x -X=DELETE"],
        ["gh api repos/x", "gh api -X GET x"],
    ),
    (
        "git push --force",
        [
            "git push -f",
            "git push -uf origin main",
            "git push origin main --force",
            "git push origin +main",
            "git push --forc x",
            "git -C x push -f",
        ],
        [
            "git push --force-with-lease",
            "git push --follow-tags",
            "git push -u",
            "git push origin main",
            "git fetch --force",
        ],
    ),
    (
        "git commit --no-verify",
        ["git commit -nm x", "git commit -am x --no-verify", "git commit --no-veri -m x"],
        ["git commit", "git push --no-verify", "git commit -m x -- --no-verify"],
    ),
    (
        "git branch -D",
        ["git branch -d -f x", "git branch --delete --force x", "git branch -df x"],
        ["git branch -d x", "git branch x"],
    ),
    (
        "git stash drop",
        ["git stash drop stash@{1}"],
        ["git stash push -m drop", "git stash -m drop", "git stash list"],
    ),
    (
        "make deploy",
        ["make -C x deploy", "make clean deploy", "make VAR=1 deploy", "make -f P.mk -j4 deploy"],
        ["make -C deploy", "make build -f deploy", "make"],
    ),
    (
        "gradle test",
        ["./gradlew test", "gradle clean test", "./gradlew -p app test"],
        ["./gradlew build -x test", "gradle :app:lint"],
    ),
    (
        "kubectl delete",
        ["kubectl --context=c --namespace ns delete svc y", "kubectl -nx delete pod"],
        ["kubectl get delete", "kubectl exec p -- kubectl delete x"],
    ),
    ("sudo npm install", ["sudo -E npm i", "sudo env A=1 npm install"], ["npm install"]),
    (
        "cd packages/api && npm test",
        [
            "npm --prefix packages/api test",
            "(cd packages/api; npm test)",
            "pushd packages/api; npm test",
            "cd packages; cd api; npm test",
            "env -C packages/api npm test",
        ],
        ["npm test", "cd packages/web && npm test", "(cd packages/api); npm test"],
    ),
    ("git -C a push", ["cd a && git push"], ["git push", "git -C b push"]),
    (
        "terraform apply -auto-approve",
        ["terraform -chdir=x apply -auto-approve"],
        ["terraform apply", "terraform apply -a -u -t -o"],
    ),
    ("aws s3 rm", ["aws --profile p s3 rm s3://x", "aws s3 --region x rm y"], ["aws s3 ls rm"]),
    (
        "scripts/test.sh",
        [
            "./scripts/test.sh",
            "bash scripts/test.sh",
            "sh -x ./scripts/test.sh -v",
            "cd scripts && ./test.sh",
        ],
        ["cat scripts/test.sh", "other/scripts/test.sh", "./test.sh"],
    ),
    ("which python", ["which python"], ["python", "which node"]),
    (
        "npm publish",
        ["npm --tag beta publish", "npm --otp 123 publish --access public"],
        ["npm run publish", "npm pack", "npm help publish"],
    ),
    (
        "python manage.py migrate",
        ["uv run manage.py migrate", "python3 manage.py migrate app"],
        ["python manage.py makemigrations"],
    ),
    ("find -delete", ["find . -name x -delete"], ["find . -name delete", "find . -d -e -l -t"]),
    ("xargs rm", ["ls | xargs rm"], ["rm x"]),
    ("kill -9", ["sudo kill -9 1 2"], ["kill 1", "kill -15 9"]),
]


@pytest.mark.parametrize("signature, same, other", PAIRS, ids=[pair[0] for pair in PAIRS])
def test_a_signature_takes_its_spellings_and_no_neighbours(
    signature: str, same: list[str], other: list[str]
) -> None:
    parsed = parse_signature(signature)
    assert not parsed.problem
    for command in [signature, *same]:
        if parsed.parts[0].key[0] not in ("pm", "pypm", "bin") or command != signature:
            assert matches(parsed, canonical(command)) is not None, command
    for command in other:
        assert matches(parsed, canonical(command)) is None, command
