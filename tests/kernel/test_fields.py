"""Guards that a signature can see every field of an input, and sees the same text every time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.fields import MAX_FIELDS, flatten_input, mcp_field

CALL = {
    "repo": "shop",
    "labels": ["bug", {"name": "p1"}],
    "draft": True,
    "count": 3,
    "note": None,
    "a.b": "dotted",
    "x.y": {"z": "inside"},
    "a": {"b": "nested", "empty": {}, "none": []},
}


def test_fields_become_sorted_lines() -> None:
    assert flatten_input(CALL).split("\n") == [
        "a.b=nested",
        "a.empty={}",
        "a.none=[]",
        "a.b=dotted",
        "count=3",
        "draft=true",
        "labels.0=bug",
        "labels.1.name=p1",
        "note=null",
        "repo=shop",
        "x.y.z=inside",
    ]


def test_order_of_keys_does_not_matter() -> None:
    assert flatten_input(CALL) == flatten_input(dict(reversed(CALL.items())))


@pytest.mark.parametrize(("value", "text"), [("a\r\nb\n", "a b"), (1.5, "1.5"), ({}, ""), ([], "")])
def test_values_alone(value: object, text: str) -> None:
    assert flatten_input(value) == text


def test_no_value_can_look_like_another_field() -> None:
    assert flatten_input({"text": "x\ndb=prod", "k\nz": 1}) == "k z=1\ntext=x db=prod"


def test_a_long_field_does_not_hide_the_others() -> None:
    """Guards a write tool whose content sorts before its flags."""
    text = flatten_input({"content": "x" * 100_000, "mode": "overwrite", "path": "/etc/hosts"})
    assert len(text) <= 8192
    assert text.endswith("\nmode=overwrite\npath=/etc/hosts")
    assert text.count("x") > 8000


def test_depth_and_number_are_bounded() -> None:
    deep: object = "end"
    for _ in range(5000):
        deep = {"k": deep}
    assert len(flatten_input(deep)) < 200
    wide = flatten_input({str(n): n for n in range(10 * MAX_FIELDS)}, limit=10**6)
    assert wide.count("\n") == MAX_FIELDS - 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("repo", "shop"),
        ("a.b", "dotted"),
        ("a.none", ""),
        ("labels.1.name", "p1"),
        ("labels.1", "name=p1"),
        ("draft", "true"),
        ("x.y.z", "inside"),
        ("missing", ""),
        ("labels.9", ""),
        ("labels.x", ""),
        ("repo.x", ""),
    ],
)
def test_one_field(path: str, text: str) -> None:
    assert mcp_field(CALL, path) == text


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=200)
@given(_json, st.text(max_size=8), st.integers(0, 60))
def test_any_value_fits_the_limit(value: object, path: str, limit: int) -> None:
    text = flatten_input(value, limit)
    assert len(text) <= limit
    assert isinstance(mcp_field(value, path), str)
