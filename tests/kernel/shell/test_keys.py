"""Guards the canonical keys: literal, effective and families."""

import pytest

from hmd.kernel.shell.braces import expand_braces
from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.program import program_name


def keys(text: str) -> list[str]:
    return [" ".join(key) for key in canonical(text).units[-1].keys]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("git -C a --no-pager status -sb", ["git status -sb -C a --no-pager"]),
        ("docker compose -f x up", ["docker compose up -f x"]),
        ("docker-compose -f x up", ["docker compose up -f x"]),
        ("gh pr --repo r view 1", ["gh pr view 1 --repo r"]),
        ("cargo +nightly t", ["cargo test +nightly"]),
        ("npm --prefix a run build", ["npm run build --prefix a", "pm build --prefix a"]),
        ("npm run -s build", ["npm run build -s", "pm build -s"]),
        ("npm isntall", ["npm install", "pm install"]),
        ("npm ci", ["npm ci", "pm install"]),
        ("npm i x", ["npm install x", "pm add x"]),
        ("npm rm x", ["npm uninstall x", "pm remove x"]),
        ("npm build", ["npm build"]),
        ("npm run start", ["npm start", "pm start"]),
        ("pnpm run lint", ["pnpm lint", "pm lint"]),
        ("pnpm run deploy", ["pnpm run deploy", "pm deploy"]),
        ("pnpm vitest run", ["pnpm vitest run", "vitest run", "bin vitest run", "pm vitest run"]),
        ("yarn", ["yarn install", "pm install"]),
        ("yarn workspace w test", ["yarn test", "pm test"]),
        ("bun test", ["bun test"]),
        ("bun run test", ["bun run test", "pm test"]),
        ("bun dev", ["bun run dev", "pm dev"]),
        ("bun run x.ts", ["bun x.ts"]),
        ("deno task x", ["deno task x", "pm x"]),
        ("pip3 install x", ["pip install x", "pypm install x"]),
        ("uv pip install x", ["uv pip install x", "pypm install x"]),
        (
            "python -m pip install x",
            ["python -m pip install x", "pip install x", "pypm install x"],
        ),
        ("CI=1 npx --yes vitest@1 run", ["npx vitest run", "vitest run", "bin vitest run"]),
        ("uv run f.py", ["uv run python f.py", "python f.py", "bin python f.py"]),
        ("uv run -m x", ["uv run python -m x", "x", "bin x"]),
        ("npx npm test", ["npx npm test", "npm test", "pm test"]),
        ("ls -la", ["ls -la", "bin ls -la"]),
        ("cat x", ["cat x"]),
        ("./x.sh a", ["x.sh a"]),
        (".venv/bin/pytest -q", ["pytest -q", "bin pytest -q"]),
        ("git -- push", ["git -- push"]),
    ],
)
def test_the_keys_of_a_command(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    "word, expected",
    [
        ("git", ("git", "")),
        ("/usr/bin/git", ("git", "")),
        ("~/bin/git", ("git", "")),
        ("C:\\Program Files\\Git\\git.exe", ("git", "")),
        ("GIT.EXE", ("git", "")),
        ("python3.12", ("python", "")),
        ("pypy3", ("python", "")),
        ("pip3.11", ("pip", "")),
        ("nodejs", ("node", "")),
        ("./gradlew", ("gradle", "")),
        ("gradlew.bat", ("gradle", "")),
        ("../mvnw", ("mvn", "")),
        ("./scripts/test.sh", ("scripts/test.sh", "file")),
        ("scripts/../x.sh", ("x.sh", "file")),
        (".\\scripts\\x.ps1", ("scripts/x.ps1", "file")),
        ("node_modules/.bin/vitest", ("vitest", "bin")),
        ("/r/.venv/bin/python3", ("python", "bin")),
        ("venv\\Scripts\\pytest.exe", ("pytest", "bin")),
        ("target/debug/app", ("app", "bin")),
        ("python-config", ("python-config", "")),
        ("pip-compile", ("pip-compile", "")),
        ("x86_64", ("x86_64", "")),
        ("", ("", "")),
    ],
)
def test_the_name_of_a_program(word: str, expected: tuple[str, str]) -> None:
    assert program_name(word) == expected


def test_a_relative_script_is_named_from_the_repository() -> None:
    assert program_name("./x.sh", "a/b") == ("a/b/x.sh", "file")
    assert program_name("../x.sh", "a/b") == ("a/x.sh", "file")
    assert program_name("./x.sh", "?") == ("x.sh", "file")
    assert program_name("RM", fold=True) == ("rm", "")


@pytest.mark.parametrize(
    "word, expected",
    [
        ("a", ["a"]),
        ("{a,b}", ["a", "b"]),
        ("x{a,b}y", ["xay", "xby"]),
        ("{a,{b,c}}", ["a", "b", "c"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("{a}", ["{a}"]),
        ("{a,b", ["{a,b"]),
        ("${a,b}", ["${a,b}"]),
        ("{}", ["{}"]),
        ("{,x}", ["", "x"]),
    ],
)
def test_brace_lists(word: str, expected: list[str]) -> None:
    assert expand_braces(word) == expected


def test_brace_lists_are_bounded() -> None:
    assert len(expand_braces("{a,b}" * 10)) == 16
