"""A frozen pattern is the pattern; a cache that is not ours is no cache."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hmd.kernel import pattern

SAMPLES = [
    (r"(?:[0-9]+|\{[A-Za-z_]\w*\})(?=[<>])", 0, "2>x {fd}<y 한>"),
    (r"(?i)(?P<name>bearer)\s+(\S+)", 0, "Bearer abc"),
    (r"\bdon['’]t\b|말고", re.IGNORECASE, "DON'T 말고"),
    (r"(a)(?:b(?P<c>c)?)*", 0, "abcb"),
    (r"^x$", re.MULTILINE, "y\nx\n"),
]


def test_thawed_patterns_find_what_compiled_ones_find(tmp_path: Path) -> None:
    """In a fresh process, which must not need `re` for them."""
    cache = str(tmp_path / "patterns")
    for source, flags, _ in SAMPLES:
        pattern.compile_pattern(source, flags)
    assert pattern.freeze(cache) >= len(SAMPLES)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from hmd.kernel import pattern\n"
        "assert pattern.thaw(sys.argv[2])\n"
        f"for source, flags, text in {[(s, int(f), t) for s, f, t in SAMPLES]!r}:\n"
        "    p = pattern.compile_pattern(source, flags)\n"
        "    print([(m.group(), m.groups(), m.groupdict(), m.span()) for m in p.finditer(text)])\n"
        "assert 're' not in sys.modules\n"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", script, root, cache],
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = [
        str([(m.group(), m.groups(), m.groupdict(), m.span()) for m in re.finditer(s, t, f)])
        for s, f, t in SAMPLES
    ]
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize("content", [b"", b"junk", b"\x00" * 64])
def test_a_damaged_cache_is_no_cache(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "patterns"
    path.write_bytes(content)
    assert not pattern.thaw(str(path))
    assert not pattern.thaw(str(tmp_path / "absent"))


def test_a_cache_of_another_interpreter_is_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern.compile_pattern("abc")
    pattern.freeze(str(tmp_path / "patterns"))
    monkeypatch.setattr(pattern, "cache_key", lambda: "another")
    assert not pattern.thaw(str(tmp_path / "patterns"))


def test_a_bad_pattern_raises_as_re_does() -> None:
    with pytest.raises(re.error):
        pattern.compile_pattern("(")


_KEEP = """
import sys
sys.path.insert(0, sys.argv[1])
from hmd.kernel import pattern
pattern.thaw(sys.argv[2])
for source in sys.argv[3:]:
    assert pattern.compile_pattern(source).search("ab12")
print(pattern.keep(sys.argv[2]), "re" in sys.modules)
"""


def test_patterns_of_rules_are_compiled_once(tmp_path: Path) -> None:
    """The first process pays for `re`, those after it do not, and an absent place costs nothing."""

    def run(cache: str, *sources: str) -> str:
        argv = [sys.executable, "-I", "-S", "-c", _KEEP, str(Path(__file__).parents[2]), cache]
        done = subprocess.run([*argv, *sources], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    cache = str(tmp_path / "run" / "patterns")
    assert run(cache, r"b(\d)", "a") == "2 True"
    assert run(cache, r"b(\d)") == "0 False"
    assert run(cache, r"b(\d)", "[12]") == "1 True"
    assert run(cache, r"b(\d)", "a", "[12]") == "0 False"
    (tmp_path / "file").write_text("")
    assert run(f"{tmp_path}/file/patterns", "a") == "0 True"
