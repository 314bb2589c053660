"""Texts found in files in every spelling, and overwritten so that nothing else changes."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.store.mask import BLOCK, Words, is_findable, overwrite

SECRET = 'lives behind\nthe "old" mill 물레방아, third door on the left, and pays in cash'


def masked(data: bytes, words: Words) -> bytes:
    out = bytearray(data)
    for start, length in words.spans(data):
        out[start : start + length] = b"x" * length
    return bytes(out)


@pytest.mark.parametrize(
    "data",
    [
        SECRET.encode(),
        json.dumps({"a": SECRET}).encode(),
        json.dumps({"a": SECRET}, ensure_ascii=False).encode(),
        json.dumps({"a": json.dumps({"b": " ".join(SECRET.split())})[12:-2]}).encode()[:0]
        or " ".join(SECRET.split()).encode(),  # as it is given to a model, on one line
        SECRET[:75].encode() + "… (cut)".encode(),
        SECRET.upper().encode(),
        ("- " + SECRET.replace("\n", "\n    ")).encode(),
    ],
)
def test_every_spelling_is_found(data: bytes) -> None:
    """Guards copies that are escaped, flattened, cut to fit, indented or in capitals."""
    left = masked(data, Words([SECRET])).lower()
    assert b"third door" not in left and "물레방아".encode() not in left
    assert len(left) == len(data)


def test_a_hit_on_the_border_of_two_blocks_is_found() -> None:
    """Guards the search in pieces."""
    for shift in range(0, len(SECRET.encode()), 7):
        data = b" " * (BLOCK - shift) + SECRET.encode() + b" " * 10
        assert masked(data, Words([SECRET])).strip(b" ") == b"x" * len(SECRET.encode())


TEXTS = st.text(st.sampled_from('ab\\"\n é물🛑'), min_size=4, max_size=100)


@settings(derandomize=True, max_examples=300)
@given(TEXTS, TEXTS, TEXTS, st.booleans(), st.integers(0, 100))
def test_json_stays_json(text: str, before: str, after: str, ascii_only: bool, cut: int) -> None:
    """Guards files of records: overwriting inside of a value breaks no value, also where the copy
    was cut off in the middle."""
    said = before + text[: len(text) - cut % len(text)] + after
    record = json.dumps({"k": 1, "said": said, "next": "kept"}, ensure_ascii=ascii_only).encode()
    left = json.loads(masked(record, Words([text], text)))
    assert (left["k"], left["next"]) == (1, "kept")
    if is_findable(text) and text in said:
        assert text not in left["said"]


@settings(derandomize=True, max_examples=200)
@given(TEXTS, TEXTS, TEXTS)
def test_masking_a_text_is_overwriting_its_json(text: str, before: str, after: str) -> None:
    """Guards a database that is built anew from an overwritten journal: both say the same."""
    said = before + text + after
    words = Words((), text)
    written = json.dumps(said, ensure_ascii=False).encode()
    by_file = masked(written, words)
    if words.asked:
        assert len(json.dumps(words.mask(said), ensure_ascii=False).encode()) == len(written)
        assert not words.says(words.mask(said))
        assert json.loads(by_file) is not None


def test_short_texts_go_only_as_whole_values(tmp_path: Path) -> None:
    """Guards logs against "go": only where it is all that a value says."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a": "go", "b": "good"} go')
    assert overwrite(path, Words(["go"]))
    assert path.read_bytes() == b'{"a": "xx", "b": "good"} go'
    assert overwrite(path, Words(["absent from it"])) is False
    assert overwrite(tmp_path / "none", Words(["whatever it is"])) is False


@pytest.mark.parametrize(
    ("text", "findable"),
    [("Anna", False), ("Anna Kowalska", True), ("김철수", True), ("pre_tool", False)],
)
def test_what_files_can_be_searched_for(text: str, findable: bool) -> None:
    """Guards the files' own words, and counts length in bytes: three syllables are a name."""
    assert is_findable(text) is findable
