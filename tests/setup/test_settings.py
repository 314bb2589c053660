"""Guards single changes to config.toml: the rest of the file stays as it is."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.errors import HmdError
from hmd.setup.settings import as_toml, change, replaced, value, values

FILE = """# mine
autonomy_level = "shadow" # for now

[before_tool]
max_items   = 2 # few
unknown = "a # b"

[project."/srv/app"]
after_tool.max_items = 1

[project."/srv/app".before_tool]
"""


def test_a_value_is_replaced_where_it_stands(tmp_path: Path) -> None:
    """Guards comments, alignment and order."""
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    change(str(path), "before_tool.max_items", "7")
    change(str(path), "after_tool.max_items", "9", "/srv/app")
    change(str(path), "autonomy_level", "standard")
    assert path.read_text() == FILE.replace("= 2 # few", "= 7 # few").replace(
        "max_items = 1", "max_items = 9"
    ).replace('"shadow"', '"standard"')


def test_a_new_value_joins_its_table(tmp_path: Path) -> None:
    """Guards files that have the table, and files that do not."""
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    change(str(path), "before_tool.max_bytes", "100", "/srv/app")
    change(str(path), "log.debug", "true")
    assert path.read_text() == FILE + "max_bytes = 100\n\n[log]\ndebug = true\n"
    assert value(str(path), "before_tool.max_bytes", "/srv/app") == 100
    assert value(str(path), "before_tool.max_bytes") == 2048


def test_a_bad_value_changes_nothing(tmp_path: Path) -> None:
    """Guards the file against what doctor would complain of."""
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    for key, typed in (("before_tool.max_items", "-1"), ("autonomy_level", "wild")):
        with pytest.raises(HmdError, match="does not fit"):
            change(str(path), key, typed)
    with pytest.raises(HmdError, match="no such setting"):
        change(str(path), "before_tool", "1")
    assert path.read_text() == FILE


def test_an_unusual_layout_is_left_alone(tmp_path: Path) -> None:
    """Guards inline tables: refused with the file's name, not edited wrongly."""
    path = tmp_path / "config.toml"
    path.write_text("log = { debug = false }\n")
    with pytest.raises(HmdError, match="cannot edit"):
        change(str(path), "log.debug", "true")
    path.write_text("not toml")
    with pytest.raises(HmdError, match="cannot be read"):
        change(str(path), "log.debug", "true")


def test_problems_are_said(tmp_path: Path) -> None:
    """Guards that reading names what it did not take."""
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    found, problems = values(str(path))
    assert found["before_tool.max_items"] == 2
    assert len(problems) == 1 and "before_tool.unknown" in problems[0]


KEYS = st.sampled_from(["a", "b c", "d.e", "한"])
TABLES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    KEYS, st.dictionaries(KEYS, st.integers() | st.text(max_size=5), max_size=3), max_size=3
)


@settings(derandomize=True, max_examples=100)
@given(TABLES, KEYS, KEYS, st.text(max_size=6))
def test_one_value_changes_and_no_other(
    tables: dict[str, Any], table: str, key: str, new: str
) -> None:
    """Guards every other key, for any names and values."""
    text = ""
    for name, inner in tables.items():
        text += f"[{as_toml(name)}] # x\n"
        text += "".join(f"{as_toml(each)} = {as_toml(inner[each])} # y\n" for each in inner)
    done = tomllib.loads(replaced(text, [table], key, as_toml(new)))
    expected = {**tables, table: {**tables.get(table, {}), key: new}}
    assert done == expected
