"""Guards what signatures see of a path or of a whole call, however the host spelled it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.targets import INPUT, PATH, URL, Target, normalize_path, target_of

ROOT = "/home/ann/shop"


@pytest.mark.parametrize(
    ("path", "cwd", "spelling"),
    [
        ("src/a.ts", ROOT, "src/a.ts"),
        ("a.ts", ROOT + "/src", "src/a.ts"),
        ("./src//./a.ts", ROOT, "src/a.ts"),
        ("../a.ts", ROOT + "/src", "a.ts"),
        ("../../b", ROOT, "/home/b"),
        (ROOT + "/src/a.ts", "", "src/a.ts"),
        (ROOT + "/src/", "/", "src"),
        (ROOT, "", "."),
        (ROOT + "-old/a.ts", "", ROOT + "-old/a.ts"),
        ("/etc/../etc/passwd", "", "/etc/passwd"),
        ("/../../xy", "", "/xy"),
        ("//etc//hosts", "", "/etc/hosts"),
        ("~/notes.md", "", "/home/ann/notes.md"),
        ("~", "", "/home/ann"),
        ("~bob/x", ROOT, "~bob/x"),
        ("src\\a.ts", ROOT, "src/a.ts"),
        ("a.ts", "", ""),
        ("a.ts", "not/absolute", ""),
        ("", ROOT, ""),
        ("/home/ann/shop/cafe\u0301", "", "caf\u00e9"),
        ("C:\\x\\y", ROOT, "C:/x/y"),
    ],
)
def test_paths_have_one_spelling(path: str, cwd: str, spelling: str) -> None:
    assert normalize_path(path, cwd, ROOT, "/home/ann") == spelling


@pytest.mark.parametrize(
    "root", ["C:\\work\\shop", "c:/work/shop/", "/c/work/shop", "/mnt/c/work/shop"]
)
@pytest.mark.parametrize(
    "path",
    [
        "C:\\work\\shop\\src\\a.cs",
        "c:/Work/Shop/src/a.cs",
        "/c/work/shop/src/a.cs",
        "/mnt/c/work/shop/src/a.cs",
        "/cygdrive/c/work/shop/src/a.cs",
        "\\\\?\\C:\\work\\shop\\src\\a.cs",
        "\\work\\shop\\src\\a.cs",
        "src\\a.cs",
    ],
)
def test_drives_have_one_spelling(path: str, root: str) -> None:
    """Guards Git Bash, WSL, Cygwin and PowerShell looking at the same file of one project."""
    assert normalize_path(path, root, root) == "src/a.cs"


def test_shares_and_foreign_roots() -> None:
    assert normalize_path("\\\\srv\\team\\..\\a.txt", "", ROOT) == "//srv/a.txt"
    assert normalize_path("\\\\?\\UNC\\srv\\a", "", ROOT) == "//srv/a"
    assert normalize_path("\\\\wsl$\\Ubuntu\\home\\ann\\shop\\x", "", ROOT) == "x"
    assert normalize_path("\\\\wsl.localhost\\Debian\\etc", "", ROOT) == "/etc"
    assert normalize_path("/etc/hosts", "", "/") == "etc/hosts"
    assert normalize_path("~/x", "", ROOT, home="") == ""


def test_case_is_folded_only_where_asked() -> None:
    assert normalize_path("/home/Ann/SHOP/Src", "", ROOT) == "/home/Ann/SHOP/Src"
    assert normalize_path("/home/Ann/SHOP/Src", "", ROOT, fold=True) == "Src"


@settings(derandomize=True, max_examples=200)
@given(st.text(alphabet="aC:~./\\ é", max_size=12), st.sampled_from(["", ROOT, "C:\\w", "/"]))
def test_normal_paths_stay_as_they_are(path: str, root: str) -> None:
    """Guards idempotence: a stored target normalized again is the same target."""
    absolute = normalize_path(path, root, "", "/home/ann")
    assert normalize_path(absolute, root, "", "/home/ann") == absolute or absolute[:2] == "//"
    assert not absolute or absolute[0] == "/" or absolute[1:3] == ":/"
    relative = normalize_path(path, root, root, "/home/ann")
    assert ".." not in relative.split("/")
    if relative and relative[0] != "/" and relative[1:2] != ":" and "~" not in relative:
        assert normalize_path(relative, root, root) == relative


def test_anything_is_taken() -> None:
    """Guards the hook path against payloads whose path is no text."""
    odd: list[Any] = [None, 3, [], {}]
    for path in odd:
        assert normalize_path(path, ROOT, ROOT) == ""
    assert normalize_path("a", None, None) == ""  # type: ignore[arg-type]
    assert normalize_path("/ab", None, None, None) == "/ab"  # type: ignore[arg-type]


def edit(path: str, fold: bool = False) -> Target:
    return target_of("edit", path, {"file_path": path}, ROOT, ROOT, "/home/ann", fold)


def test_path_signatures() -> None:
    target = edit(ROOT + "/db/migrations/0001_init.sql")
    assert (target.kind, target.text) == (PATH, "db/migrations/0001_init.sql")
    assert target.matches("glob", "db/migrations/**")
    assert target.matches("glob", "/home/*/shop/db/**")
    assert target.matches("glob", "~/shop/**")
    assert target.matches("regex", r"^db/.*_init\.sql$")
    assert target.matches("substring", "migrations/0001")
    assert not target.matches("glob", "DB/**")
    assert not target.matches("glob", "migrations/**")
    assert not target.matches("substring", "Migrations")
    assert not target.matches("substring", "")
    assert not target.matches("regex", "(")
    assert not target.matches("command", "db")
    assert edit("DB/x", fold=True).matches("glob", "db/*")


def test_path_outside_the_project_keeps_out_of_its_globs() -> None:
    target = edit("/home/ann/.ssh/id_ed25519")
    assert target.matches("glob", "~/.ssh/**")
    assert not target.matches("glob", ".ssh/**")
    assert edit("C:\\keys\\a.pem").matches("glob", "/mnt/c/keys/*")


def test_unknown_path_matches_no_particular_glob() -> None:
    target = target_of("write", "a.ts")
    assert target.text == ""
    assert not target.matches("glob", "*.ts")
    assert target.matches("glob", "**")


def test_composed_and_decomposed_names_are_one() -> None:
    """Guards Korean file names, which macOS decomposes into letters."""
    assert edit("문서/설치.md").matches("substring", "설치")
    assert edit("문서/설치.md").matches("glob", "문서/*")


def test_address_signatures() -> None:
    target = target_of("fetch", "HTTPS://user@Docs.Example.com:443/v1/a#top")
    assert (target.kind, target.text) == (URL, "https://docs.example.com/v1/a")
    assert target.matches("glob", "*.example.com/*")
    assert target.matches("glob", "domain:docs.example.com")
    assert target.matches("regex", r"//docs\.example\.com/v\d/")
    assert target.matches("substring", "example.com/v1")


def test_input_signatures() -> None:
    call = {"query": "DELETE FROM users", "options": {"dry_run": False}, "db": "prod"}
    target = target_of("mcp:postgres/query", "", call)
    assert target.kind == INPUT
    assert target.matches("substring", "DELETE FROM")
    assert target.matches("regex", r"(?m)^db=prod$")
    assert target.matches("glob", "query=DELETE *")
    assert target.matches("substring", "prod", field="db")
    assert target.matches("glob", "false", field="options.dry_run")
    assert not target.matches("substring", "prod", field="query")
    assert not target.matches("substring", "prod", field="missing")
    assert not target.matches("glob", "DELETE *")
    assert target_of("task", "look for bugs").matches("substring", "bugs")


def test_only_the_seen_part_is_searched() -> None:
    """Guards the bound on matching time: text is cut before an expression runs."""
    target = Target(INPUT, "a" * 9000 + "needle")
    assert not target.matches("regex", "needle")
