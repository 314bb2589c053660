"""The journal's format: what was written by an earlier version must stay readable."""

import msgspec
import pytest

from hmd.core import changes as ch
from hmd.core.memory import Content, MemoryRow, Signature


def test_stored_lines_of_version_1_are_read() -> None:
    """Guards tags and field names on disk: these bytes were written by schema 1."""
    line = (
        b'{"seq":3,"change":{"kind":"add_memory","actor":"terminal","at":5,"memory":"m",'
        b'"version":"v","content":{"type":"policy","summary":"s","sig":{"tool":"bash","target":'
        b'"command","kind":"cmd","pattern":"npm test","negate":true}},"project":"p"}}'
    )
    entry = ch.decode_entry(line)
    assert isinstance(entry.change, ch.AddMemory)
    assert entry.change.content.sig == Signature(pattern="npm test", negate=True)
    tags = {
        "add_memory",
        "edit_memory",
        "set_status",
        "enforce",
        "promote",
        "demote",
        "restore",
        "create_project",
        "enable_project",
        "disable_project",
        "move_project",
        "merge_projects",
        "forget_project",
        "open_proposal",
        "accept_proposal",
        "reject_proposal",
        "expire_proposal",
        "batch",
    }
    known = {kind.__struct_config__.tag for kind in ch.AnyChange.__args__}
    assert known >= tags


def test_changes_survive_the_trip() -> None:
    """Guards nested changes, and that an absent field is told from one set to null."""
    patch = ch.Patch(summary="new", tools=None)
    edit = ch.EditMemory(actor="terminal", at=1, memory="m", version="v", patch=patch, project=None)
    add = ch.AddMemory(actor="mcp", at=1, memory="m", version="v", content=Content(summary="é🛑"))
    opened = ch.OpenProposal(
        actor="mcp",
        at=2,
        proposal="p",
        proposes="edit",
        changes=[ch.Batch(actor="mcp", at=2, changes=[add, edit])],
    )
    entry = ch.Entry(seq=1, change=opened)
    found = ch.decode_entry(ch.encode(entry))
    assert found == entry
    inner = msgspec.to_builtins(found)["change"]["changes"][0]["changes"][1]
    assert inner["patch"] == {"summary": "new", "tools": None}


def test_unknown_fields_are_skipped_and_unknown_changes_are_not() -> None:
    """Guards both directions of growth: a newer field is harmless, a newer change is not."""
    line = (
        b'{"seq":1,"x":1,"change":{"kind":"enable_project","actor":"terminal","at":1,'
        b'"project":"p","y":2}}'
    )
    assert isinstance(ch.decode_entry(line).change, ch.EnableProject)
    with pytest.raises(msgspec.ValidationError):
        ch.decode_entry(line.replace(b"enable_project", b"paint_project"))


def test_rows_are_made_of_defaults() -> None:
    """Guards the protocol's rule: every field of a row has a default."""
    assert msgspec.json.decode(b"{}", type=MemoryRow) == MemoryRow()
