"""The kernel's JSON is `json`'s: the same values, the same texts, the same refusals."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel import jsontext

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
texts = st.text(st.characters(codec=None), max_size=12)  # lone surrogates too
values = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@settings(derandomize=True, max_examples=150)
@given(values)
def test_texts_are_those_of_json(value: object) -> None:
    """What one process writes another reads, whichever of the two wrote or reads it."""
    text = json.dumps(value, separators=(",", ":"))
    assert jsontext.dumps(value) == text
    assert jsontext.loads(text) == json.loads(text)
    assert jsontext.loads(json.dumps(value, indent=1)) == json.loads(text)


@settings(derandomize=True, max_examples=200)
@given(st.text(alphabet='[]{}":, \t\n\\u0019.-eEntrufalsI\ufeff\xa0', max_size=12))
def test_what_json_refuses_is_refused(text: str) -> None:
    """A torn line must not be read as something."""
    try:
        wanted = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            jsontext.loads(text)
    else:
        found = jsontext.loads(text)
        both_nan = isinstance(found, float) and math.isnan(found) and math.isnan(wanted)
        assert both_nan or found == wanted


def test_constants_and_depth() -> None:
    """Hosts write NaN; a payload nested too deeply ends as RecursionError, which readers catch."""
    assert jsontext.loads("[Infinity,-Infinity]") == [math.inf, -math.inf]
    assert math.isnan(jsontext.loads("NaN"))  # type: ignore[arg-type]
    with pytest.raises(RecursionError):
        jsontext.loads("[" * 100_000)


def test_what_has_no_json_is_no_text() -> None:
    """A record of our own with a foreign object in it is a mistake to be seen."""
    with pytest.raises(TypeError):
        jsontext.dumps({"a": object()})
