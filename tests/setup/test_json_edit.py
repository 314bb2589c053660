"""Guards that editing a settings text keeps every byte that is not ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.setup.json_edit import JsonProblem, Trace, append, at, parse, remove

PATH = ("hooks", "PreToolUse")
ITEM = {"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}


def round_trip(text: str, path: tuple[str, ...] = PATH) -> str:
    trace: Trace = {}
    edited = append(text, path, ITEM, trace)
    array = at(parse(edited), path)
    assert array is not None and array.children[-1].node.plain() == ITEM
    return remove(edited, path, len(array.children) - 1, trace)


LAYOUTS = {
    "empty": "{}",
    "empty on two lines": "{\n}\n",
    "blank inside": "{ }",
    "one line": '{"a": 1, "b": [1,2]}',
    "one line, no blanks": '{"a":1}\n',
    "four blanks": '{\n    "a": 1\n}\n',
    "tabs": '{\n\t"a": {\n\t\t"b": []\n\t}\n}',
    "windows line ends": '{\r\n  "a": 1\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "a": 1\n}\n',
    "no newline at the end": '{\n  "a": 1\n}',
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "blank hooks": '{\n  "hooks": {\n  }\n}\n',
    "empty event": '{"hooks": {"PreToolUse": [ ]}}',
    "foreign hook": '{\n  "hooks": {\n    "PreToolUse": [\n      {"hooks": []}\n    ]\n  }\n}\n',
    "comments": '{\n  // mine\n  "a": 1, /* b */ "c": 2 // last\n}\n// end\n',
    "only a comment": "{\n  // nothing yet\n}\n",
    "comment, one line": "{ /* nothing */ }",
    "trailing comma": '{\n  "a": 1,\n}\n',
    "trailing comma and comment": '{\n  "a": 1, // one\n}\n',
    "comma after a comment": '{\n  "a": 1 /* one */ ,\n}\n',
    "repeated key": '{"hooks": 1, "hooks": {"PreToolUse": []}}',
    "other scripts": '{"이름": "값 🛑"}',
    "brace on the next line": '\n\n{"a": 1,\n "b": {\n}}',
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_adding_then_removing_gives_the_same_bytes(name: str) -> None:
    """Guards byte equality on the layouts that people's files have."""
    assert round_trip(LAYOUTS[name]) == LAYOUTS[name]


def test_new_text_takes_the_layout_of_its_neighbours() -> None:
    """Guards that a person finds our lines indented as the rest of the file is."""
    edited = append('{\r\n\t"a": 1\r\n}\r\n', PATH, 1, {})
    assert edited == (
        '{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"PreToolUse": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n'
    )


def test_a_comment_keeps_its_line() -> None:
    """Guards that our item goes behind a comment about the last foreign one."""
    edited = append('{"hooks": {\n  "PreToolUse": [\n    1 // one\n  ]\n}}', PATH, 2, {})
    assert edited == '{"hooks": {\n  "PreToolUse": [\n    1, // one\n    2\n  ]\n}}'


def test_without_a_trace_nothing_of_ours_stays() -> None:
    """Guards removal without a receipt: containers that only held our item go with it."""
    assert remove('{"a": 1, "hooks": {"PreToolUse": [1]}}', PATH, 0, {}) == '{"a": 1}'


def test_removing_from_the_middle_keeps_the_neighbours() -> None:
    """Guards items that others placed around ours later."""
    text = "[\n  1, // one\n  2 /* two */, // ours\n  3\n]"
    assert remove(text, (), 1, {}) == "[\n  1, // one\n   /* two */ // ours\n  3\n]"


def test_a_line_comment_never_swallows_what_follows() -> None:
    """Guards the case in which our item's line end also ends a comment."""
    text = "[1, // one\n 2]"
    assert parse(remove(text, (), 1, {})).plain() == [1]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n  "a": 1,,\n}', 2, 10),
        ('{\n  "a" 1\n}', 2, 7),
        ('{\n  "a": [1, 2\n}', 3, 1),
        ("{'a': 1}", 1, 2),
        ('{"a": 1} x', 1, 10),
        ('{"a": "b\n"}', 1, 9),
        ('{"a": tru}', 1, 7),
        ("{ /* a", 1, 3),
        ("[" * 300, 1, 202),
        ("", 1, 1),
    ],
)
def test_bad_text_is_named_with_line_and_column(text: str, line: int, column: int) -> None:
    """Guards that a broken settings file is refused with the place to look at."""
    with pytest.raises(JsonProblem) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("text", ["[]", "3", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', " "])
def test_a_wrong_type_on_the_way_is_refused(text: str) -> None:
    """Guards against turning a foreign value into something else."""
    with pytest.raises(JsonProblem):
        append(text, PATH, 1, {})


# --- any JSON in any layout -----------------------------------------------------------------

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-99, 99), st.text(max_size=4), st.just("// no /* , ]")
)
KEYS = st.one_of(st.sampled_from(["hooks", "PreToolUse", "a"]), st.text(max_size=3))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
HOOKS = st.dictionaries(st.sampled_from(["PreToolUse", "Stop"]), st.lists(VALUES, max_size=2))
DOCUMENTS = st.one_of(
    st.dictionaries(KEYS.filter(lambda key: key != "hooks"), VALUES, max_size=4),
    st.builds(
        lambda rest, hooks: {**rest, "hooks": hooks},
        st.dictionaries(KEYS, VALUES, max_size=3),
        HOOKS,
    ),
)
GAPS = st.sampled_from(
    ["", "", "", " ", "\n", "\n  ", "\n\t", "\r\n    ", "// c, }\n", " /* ] */ ", "/**/\n"]
)


def rendered(value: Any, gap: Callable[[], str]) -> str:
    """`value` as text, with a drawn gap (blanks, line ends, comments) between all tokens."""
    if isinstance(value, dict):
        items = [
            json.dumps(key) + gap() + ":" + gap() + rendered(inner, gap)
            for key, inner in value.items()
        ]
        opening, closing = "{", "}"
    elif isinstance(value, list):
        items, opening, closing = [rendered(inner, gap) for inner in value], "[", "]"
    else:
        return json.dumps(value, ensure_ascii=False)
    body = (gap() + "," + gap()).join(items)
    trailing = gap() + "," if items and gap() == " " else ""
    return opening + gap() + body + trailing + gap() + closing


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.data(), DOCUMENTS)
def test_any_layout_comes_back_byte_for_byte(data: st.DataObject, document: dict[str, Any]) -> None:
    """Guards byte equality, and that an edit changes nothing but what it was asked to."""
    text = rendered(document, lambda: data.draw(GAPS))
    trace: Trace = {}
    edited = append(append(text, PATH, ITEM, trace), ("hooks", "Stop"), ITEM, trace)
    hooks = document.get("hooks", {})
    expected = {name: [*hooks.get(name, []), ITEM] for name in ("PreToolUse", "Stop")}
    assert parse(edited).plain() == {**document, "hooks": {**hooks, **expected}}
    stop = remove(edited, ("hooks", "Stop"), len(expected["Stop"]) - 1, trace)
    assert remove(stop, PATH, len(expected["PreToolUse"]) - 1, trace) == text
