"""The kernel's functions on paths are those of `os` and `posixpath`."""

import os
import posixpath
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel import system

paths = st.lists(st.sampled_from(["", ".", "..", "a", "b c", "한"]), max_size=6).map("/".join)


@settings(derandomize=True, max_examples=300)
@given(paths, paths)
def test_paths_are_spelled_as_posixpath_spells_them(one: str, two: str) -> None:
    """Scopes and project keys were made with posixpath; another spelling would miss them."""
    for path in (one, "/" + one, "//" + one):
        assert system.normal(path) == posixpath.normpath(path)
        assert system.dirname(path) == posixpath.dirname(path)
        assert system.join(path, two) == posixpath.join(path, two)


def test_real_paths_are_those_of_os(tmp_path: Path) -> None:
    """One repository behind two names is one project."""
    inner = tmp_path / "real" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "loop").symlink_to("loop")
    for name in (
        "real/inner", "link/inner", "link", "loop/x", "missing/deep", "real/missing", "file/x",
        "link/missing/x", "real/../link/inner", "real//inner/", "real/./inner",
    ):  # fmt: skip
        path = f"{tmp_path}/{name}"
        assert system.real(path) == os.path.realpath(path), name
    assert system.real("relative") == os.path.realpath("relative")


def test_kinds_and_directories(tmp_path: Path) -> None:
    """What is asked of the file system before each decision."""
    made = f"{tmp_path}/a/b/c"
    system.make_directories(made)
    system.make_directories(made)
    assert system.is_directory(made) and os.stat(made).st_mode & 0o777 == 0o700
    assert not system.is_file(made) and system.exists(made)
    assert not system.exists(made + "/x") and not system.exists("\0")
    (tmp_path / "file").write_text("")
    assert system.is_file(f"{tmp_path}/file")
