"""Guards what a scope glob covers: minimatch's rules, and a cost that no pattern can blow up."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.glob import (
    MAX_ALTERNATIVES,
    MAX_PATTERN,
    literal_prefix,
    matches,
    matches_everything,
    translate,
)

COVERED = [
    ("**", "a"),
    ("**", ".env"),
    ("**/*", "src/deep/.hidden/file"),
    ("*", "README"),
    ("*", ".gitignore"),
    ("*.py", "setup.py"),
    ("src/**", "src/a"),
    ("src/**", "src/a/b/c.ts"),
    ("src/**", "src/"),
    ("src/**/*.ts", "src/a.ts"),
    ("src/**/*.ts", "src/x/y/a.ts"),
    ("src/**/test/**/*.ts", "src/test/a.ts"),
    ("src/**/test/**/*.ts", "src/x/test/test/y/a.ts"),
    ("**/node_modules/**", "web/node_modules/left-pad/index.js"),
    ("**/a/b", "a/a/b"),
    ("**/a*c", "x/abac"),
    ("*a*b*c", "aabbabc"),
    ("packages/*/src", "packages/web/src"),
    ("a?c", "abc"),
    ("[a-c]x", "bx"),
    ("[!a]x", "bx"),
    ("[^a]x", "bx"),
    ("[]]x", "]x"),
    ("[[:digit:]]x", "4x"),
    ("v[*]", "v*"),
    ("a[", "a["),
    ("*.{ts,tsx}", "App.tsx"),
    ("{src,test}/**/*.py", "test/a/b.py"),
    ("{src/{a,b},lib}/x", "src/b/x"),
    ("img{1..3}.png", "img2.png"),
    ("img{08..10}.png", "img09.png"),
    ("{a..c}", "b"),
    ("x{,.bak}", "x"),
    ("{one}", "{one}"),
    ("${a,b}", "${a,b}"),
    ("./src/*.ts", "src/a.ts"),
    ("src/*.ts", "./src/a.ts"),
    ("src\\api\\*.cs", "src/api/A.cs"),
    ("src/*.cs", "src\\A.cs"),
    ("C:/work/**", "C:\\work\\a.cs"),
    ("/etc/*", "/etc/passwd"),
    ("app/[slug]/page.tsx", "app/[slug]/page.tsx"),
    ("app/[...rest]/**", "app/[...rest]/a/page.tsx"),
    ("docs/caf\u00e9/*", "docs/cafe\u0301/menu.md"),
    ("문서/**", "문서/설치.md"),
]

NOT_COVERED = [
    ("*", "a/b"),
    ("*.py", "a/setup.py"),
    ("src/**", "src"),
    ("src/**", "srcs/a"),
    ("src/*", "src/"),
    ("src/**.ts", "src/a/b.ts"),
    ("src/**/x", "src/yx"),
    ("**/a/b", "a/b/c"),
    ("a?c", "a/c"),
    ("a[!b]c", "a/c"),
    ("[z-a]", "m"),
    ("[slug]", "x"),
    ("*.{ts,tsx}", "App.js"),
    ("img{1..3}.png", "img4.png"),
    ("src/**", "../src/a"),
    ("**/*.ts", "../a.ts"),
    ("**a", "b/a"),
    ("SRC/**", "src/a"),
    ("", "a"),
    ("/etc/*", "etc/passwd"),
]


@pytest.mark.parametrize(("pattern", "path"), COVERED)
def test_pattern_covers_path(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(("pattern", "path"), NOT_COVERED)
def test_pattern_does_not_cover_path(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


def test_fold_ignores_case() -> None:
    """Guards Windows and macOS, where `SRC` and `src` are one directory."""
    assert matches("SRC/**/*.TS", "src/a/b.ts", fold=True)
    assert matches("src/[A-C].ts", "SRC/b.TS", fold=True)
    assert not matches("SRC/**/*.TS", "src/a/b.ts")


@pytest.mark.parametrize("path", ["", ".", "./"])
def test_unknown_path_is_covered_only_by_what_covers_everything(path: str) -> None:
    for pattern in ("**", "**/*", "**/**", "**/**/*", "{**,src}", "./**"):
        assert matches(pattern, path), pattern
        assert matches_everything(pattern), pattern
    for pattern in ("*", "src/**", "**/*.ts", "***", "", ".", "a/**/*", "**/*/*"):
        assert not matches(pattern, path), pattern
        assert not matches_everything(pattern), pattern


def test_path_that_is_a_glob_matches_by_its_literal_directory() -> None:
    """Guards `eslint src/*.ts` against a rule for `src/**` (canonical form, section 7)."""
    assert matches("src/**", "src/*.ts")
    assert matches("src/*.ts", "src/*.ts")
    assert matches("/srv/**", "/srv/{a,b}")
    assert not matches("src/api/**", "src/*.ts")
    assert not matches("lib/**", "src/*.ts")
    assert not matches("src/**", "*/x.ts")


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        ("src/api/**/*.ts", "src/api"),
        ("src/a*/b", "src"),
        ("src/{a,b}/c", "src"),
        ("app/[id]/page.tsx", "app"),
        ("src/a.ts", "src"),
        ("README", ""),
        ("**", ""),
        ("*.ts", ""),
        ("", ""),
        ("/*", "/"),
        ("/etc/*", "/etc"),
        (".\\src\\*.cs", "src"),
    ],
)
def test_literal_prefix(pattern: str, prefix: str) -> None:
    assert literal_prefix(pattern) == prefix


_piece = st.sampled_from(["a", "b", "ab", ".", "/", "*", "**", "?", "[ab]", "[", "{a,b}", "{", "}"])
_pattern = st.lists(_piece, max_size=8).map("".join)
_text = st.lists(st.sampled_from(["a", "b", "/", ".", "ab"]), min_size=1, max_size=8).map("".join)


@settings(derandomize=True, max_examples=300)
@given(_pattern, _text)
def test_short_cuts_agree_with_the_expression(pattern: str, path: str) -> None:
    """Guards the literal prefix and the everything test: they may only save work."""
    tidy = path.replace("//", "/").replace("//", "/")
    if tidy != path or any(part in (".", "..") for part in path.split("/")):
        return
    if path != pattern:
        assert matches(pattern, path) == bool(re.match(translate(pattern), path))


@settings(derandomize=True, max_examples=300)
@given(st.text(max_size=40), st.text(max_size=40), st.booleans())
def test_any_text_gives_an_answer(pattern: str, path: str, fold: bool) -> None:
    """Guards the hook path: no pattern and no path raises."""
    assert matches(pattern, path, fold) in (True, False)
    assert isinstance(literal_prefix(pattern), str)


ADVERSARIAL = [
    ("*a" * 200 + "b", "a" * 4000),
    ("**/" * 150 + "b", "a/" * 2000),
    ("**/a/" * 100 + "b", "a/" * 2000 + "c"),
    ("**/*a*a*a/" * 40 + "b", "aaaa/" * 800),
    ("{a,b}" * 7 + "{*,**/*a*a*a*a*b}", "a" * 4000),
    ("{" * 500, "{" * 4000),
    ("{a," * 120 + "}" * 120, "a" * 100),
    ("{1..999999999}", "7"),
    ("[[a]*" * 90 + "/x", "[[a]*" * 90 + "/y"),
    ("?" * 500, "a" * 4000),
    ("[" * 500, "[" * 4000),
    ("**/[[]*" * 60 + "!", "[[]*/" * 700),
]


@pytest.mark.parametrize(("pattern", "path"), ADVERSARIAL, ids=range(len(ADVERSARIAL)))
def test_no_pattern_is_expensive(pattern: str, path: str) -> None:
    """Guards against backtracking. The bound is a thousand times the cost of an honest pattern,
    far below what one nested retry would take."""
    start = time.process_time()
    matches(pattern, path)
    assert time.process_time() - start < 2.0


def test_limits_hold() -> None:
    assert not matches("*" * MAX_PATTERN + "a", "a")
    assert not matches("*", "a" * 5000)
    many = "{" + ",".join(f"x{n}" for n in range(MAX_ALTERNATIVES + 1)) + "}"
    assert not matches(many, "x1")
