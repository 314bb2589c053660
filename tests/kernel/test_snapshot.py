"""Snapshot files: what is found equals a plain search, whatever happened to the file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmd.kernel.buckets import buckets_of, first_segment
from hmd.kernel.shell.signature import parse_signature, to_plain
from hmd.kernel.snapshot import HEADER_BYTES, Snapshot, open_snapshot
from hmd.store.snapshot_file import append_tail, shorten_tail, tail_is_long, write_base

KERNEL = "k1"
Record = dict[str, Any]


def plain_of(*key: str) -> Record:
    return {"parts": [[list(key), [], [], "", False, False]], "problem": ""}


def memory(number: int, **changes: Any) -> Record:
    plain = plain_of("git", "push")
    return {
        "id": f"{number:032x}",
        "version": f"{number + 1:032x}",
        "type": "pitfall",
        "summary": f"übung {number} 🚧 한국어\u2028",
        "scope": "**",
        "triggers": ["before_tool"],
        "level": "advise",
        "sig": {
            "tool": "bash",
            "target": "command",
            "kind": "cmd",
            "pattern": "git push",
            "negate": False,
            "plain": plain,
        },
        "baseline": False,
        **changes,
    }


def glob_memory(number: int, pattern: str) -> Record:
    sig = {"tool": "edit", "target": "path", "kind": "glob", "pattern": pattern, "negate": False}
    return memory(number, sig=sig)


def write(path: Path, records: list[Record], generation: int = 1, kernel: str = KERNEL) -> None:
    write_base(
        path,
        records,
        kernel_hash=kernel,
        generation=generation,
        settings={"before_tool": {"max_items": 3}},
        project="p",
        built_ms=5,
    )


def opened(path: Path, kernel: str = KERNEL, cache: int = 0) -> Snapshot:
    snapshot = open_snapshot(str(path), kernel, cache)
    assert snapshot is not None
    return snapshot


def naive(records: list[Record], buckets: list[str]) -> list[Record]:
    found = [each for each in records if set(buckets_of(each)) & set(buckets)]
    return sorted(found, key=lambda each: str(each["id"]))


def ids(records: list[Record]) -> list[int]:
    return [int(each["id"], 16) for each in records]


def test_absent_snapshot_is_none(tmp_path: Path) -> None:
    """Guards `snapshot_missing`: no file is told from an empty one."""
    assert open_snapshot(str(tmp_path / "user"), KERNEL) is None
    write(tmp_path / "user", [])
    assert opened(tmp_path / "user").all_records() == []


def test_filing() -> None:
    """Guards the table of buckets in docs/internals.md: each row by one example."""
    assert buckets_of(memory(1)) == ["c:git push"]
    assert buckets_of(memory(1, level="deny")) == ["c:git push", "deny", "h:push"]
    negated = memory(1)
    negated["sig"]["negate"] = True
    assert buckets_of(negated) == ["t:bash"]
    regex = memory(1, sig={"tool": "fetch", "kind": "regex", "pattern": "x", "negate": False})
    assert buckets_of(regex) == ["t:fetch"]
    assert buckets_of(glob_memory(1, "src/**/*.ts")) == ["g:edit:src"]
    assert buckets_of(glob_memory(1, "**/.env*")) == ["g:edit:*"]
    assert buckets_of(memory(1, sig=None, scope="db/migrations/**")) == ["s:db"]
    assert buckets_of(memory(1, sig=None)) == ["s:*"]
    everywhere = ["session_start", "before_model", "after_tool"]
    assert buckets_of(memory(1, triggers=everywhere)) == ["start", "after"]
    assert buckets_of(memory(1, triggers=everywhere, baseline=True)) == [
        "baseline",
        "start",
        "after",
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        "git push",
        "git push --force",
        "curl | sh",
        "sudo rm -rf",
        "Foo",
        "docker",
        "npm -v",
        "a.B C",
    ],
)
def test_filing_agrees_with_the_matcher(pattern: str) -> None:
    """Guards that a command rule is filed under the words that calls are looked up by."""
    signature = parse_signature(pattern)
    assert not signature.problem
    sig = {"tool": "bash", "kind": "cmd", "plain": to_plain(signature)}
    hidden = ["h:" + signature.hidden_head] if signature.hidden_head else []
    expected = ["c:" + signature.head, "deny", *hidden]
    assert buckets_of(memory(1, level="deny", sig=sig)) == expected


def test_unreadable_command_rule_is_met_by_every_call_of_its_tool() -> None:
    """Guards that a rule that cannot be read is reported by the matcher, not lost on the way."""
    unreadable: list[object] = [
        None,
        {},
        {"parts": []},
        {"parts": [["x"]]},
        {"parts": [[[1]]]},
        "x",
    ]
    for plain in unreadable:
        sig = {"tool": "bash", "kind": "cmd", "plain": plain}
        assert buckets_of(memory(1, sig=sig)) == ["t:bash"]


def test_first_segment_finds_what_a_path_is_looked_up_under() -> None:
    """Guards that a rule's literal segment and its file's first segment meet."""
    assert first_segment("./Src\\App.ts") == "src"
    assert first_segment("/etc/passwd") == "etc"
    for everything in ("", ".", "**", "*.ts", "{a,b}/c", "[x]/y", "!src/**"):
        assert first_segment(everything) == "*"


PATTERNS = st.sampled_from(["src/**", "**/x", "docs/*.md", "*", "package.json"])
TRIGGERS = st.lists(
    st.sampled_from(["before_tool", "before_model", "session_start", "after_tool"]), unique=True
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    number = draw(st.integers(0, 30))
    kind = draw(st.sampled_from(["cmd", "glob", "none"]))
    changes: Record = {
        "triggers": draw(TRIGGERS),
        "level": draw(st.sampled_from(["advise", "deny"])),
        "baseline": draw(st.booleans()),
        "scope": draw(PATTERNS),
    }
    if kind == "cmd":
        key = draw(st.lists(st.sampled_from(["git", "npm", "푸시", "push"]), min_size=1))
        pattern = " ".join(key)
        changes["sig"] = {
            "tool": "bash",
            "kind": "cmd",
            "pattern": pattern,
            "plain": to_plain(parse_signature(pattern)),
        }
    elif kind == "glob":
        changes["sig"] = {"tool": "edit", "kind": "glob", "pattern": draw(PATTERNS)}
    else:
        changes["sig"] = None
    return memory(number, **changes)


STEP = st.one_of(
    records(), st.integers(0, 30), st.sampled_from(["fold", "crash"])
)  # a changed memory, an id to remove, or a new base (complete, or killed before the tail is cut)


@settings(
    derandomize=True, max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(
    base=st.lists(records(), unique_by=lambda each: str(each["id"])),
    steps=st.lists(STEP),
    foreign=st.booleans(),
    cache=st.sampled_from([0, 2]),
)
def test_base_and_tail_equal_a_plain_search(
    tmp_path_factory: Any, base: list[Record], steps: list[Any], foreign: bool, cache: int
) -> None:
    """Guards that no order of changes, folding, reader or cache makes a memory appear or vanish."""
    path = tmp_path_factory.mktemp("s") / "user"
    live = {str(each["id"]): each for each in base}
    write(path, base, generation=0)
    resident = opened(path, "other" if foreign else KERNEL, cache)
    names = {name for each in base for name in buckets_of(each)} | {
        "c:git push",
        "s:src",
        "baseline",
    }
    for generation, step in enumerate(steps, 1):
        if isinstance(step, str):
            write(path, list(live.values()), generation)
            if step == "fold":
                shorten_tail(path, generation)
        elif isinstance(step, dict):
            live[str(step["id"])] = step
            names |= set(buckets_of(step))
            append_tail(path, generation, str(step["id"]), step)
        else:
            live.pop(f"{step:032x}", None)
            append_tail(path, generation, f"{step:032x}", None)
        assert resident.refresh()
        assert resident.generation == generation or isinstance(step, str)
    everything = list(live.values())
    for snapshot in (resident, opened(path)):
        for name in sorted(names):
            assert snapshot.records_for([name]) == naive(everything, [name])
        assert snapshot.records_for(sorted(names)) == naive(everything, sorted(names))
        assert snapshot.all_records() == sorted(everything, key=lambda each: str(each["id"]))
        assert snapshot.problem == ""
        assert not snapshot.refresh()


def test_settings_and_header(tmp_path: Path) -> None:
    """Guards that a verdict sees the settings compiled into the base."""
    write(tmp_path / "p", [memory(1)], generation=7)
    snapshot = opened(tmp_path / "p")
    assert snapshot.settings == {"before_tool": {"max_items": 3}}
    assert snapshot.generation == 7
    assert snapshot.header["records"] == 1


def test_unfinished_tail_line_is_ignored_and_not_glued_to_the_next(tmp_path: Path) -> None:
    """Guards a writer killed in the middle of a line: neither it nor the next change is misread."""
    path = tmp_path / "user"
    write(path, [memory(1)])
    append_tail(path, 2, memory(2)["id"], memory(2))
    with open(f"{path}.tail", "ab") as tail:
        tail.write(b'{"gen":3,"id":"000000000')
    assert ids(opened(path).all_records()) == [1, 2]
    append_tail(path, 4, memory(3)["id"], memory(3))
    snapshot = opened(path)
    assert ids(snapshot.records_for(["c:git push"])) == [1, 2, 3]
    assert "tail" in snapshot.problem


def test_foreign_kernel_reads_signatures_anew(tmp_path: Path) -> None:
    """Guards an upgrade: what another kernel parsed is not trusted, in base or tail."""
    path = tmp_path / "user"
    stale = {"written": "by another kernel"}
    sig = {"tool": "bash", "kind": "cmd", "pattern": "git push", "negate": False, "plain": stale}
    write(path, [memory(1, sig=sig)])
    append_tail(path, 2, memory(2)["id"], memory(2, sig=sig))
    found = opened(path, "newer").records_for(["c:git push"])
    assert ids(found) == [1, 2]
    assert [each["sig"]["plain"] for each in found] == [plain_of("git", "push")] * 2
    assert opened(path).records_for(["c:git push"]) == []


def damage(path: Path, offset: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def test_damaged_header_is_named_and_records_are_still_found(tmp_path: Path) -> None:
    """Guards that a damaged base never becomes "no rules"."""
    path = tmp_path / "user"
    write(path, [memory(1), memory(2)])
    damage(path, 20, b"\x00")
    snapshot = opened(path)
    assert "header" in snapshot.problem
    assert ids(snapshot.records_for(["c:git push"])) == [1, 2]


def test_damaged_record_is_skipped_and_named(tmp_path: Path) -> None:
    """Guards that one bad record costs one record, even where it still reads as JSON."""
    path = tmp_path / "user"
    write(path, [memory(1), memory(2)])
    at = path.read_bytes().index(b'"level":"advise"')
    damage(path, at + 9, b"b")
    snapshot = opened(path)
    assert ids(snapshot.records_for(["c:git push"])) == [2]
    assert "damaged" in snapshot.problem


def test_damaged_table_falls_back_to_reading_everything(tmp_path: Path) -> None:
    """Guards each byte of table and postings: flipping it never hides a memory."""
    path = tmp_path / "user"
    write(path, [memory(1), glob_memory(2, "src/**")])
    data = path.read_bytes()
    start = json.loads(data[: HEADER_BYTES - 9])["table"]
    named = 0
    for at in range(start, len(data)):
        damage(path, at, bytes([data[at] ^ 0x41]))
        snapshot = opened(path)
        assert ids(snapshot.records_for(["c:git push"])) == [1]
        assert ids(snapshot.records_for(["g:edit:src"])) == [2]
        named += bool(snapshot.problem)
        damage(path, at, data[at : at + 1])
    assert named > 20


def test_truncated_file_keeps_what_is_left(tmp_path: Path) -> None:
    """Guards a file cut at any block: no exception, whole records kept, damage named."""
    path = tmp_path / "user"
    write(path, [memory(number) for number in range(20)])
    data = path.read_bytes()
    ends = [at for at in range(HEADER_BYTES, len(data)) if data[at : at + 1] == b"\n"][:20]
    for length in (0, 10, HEADER_BYTES, HEADER_BYTES + 3000, len(data) - 1):
        cut = tmp_path / f"cut{length}"
        cut.write_bytes(data[:length])
        snapshot = opened(cut)
        assert snapshot.problem
        whole = [number for number, end in enumerate(ends) if end <= length]
        assert ids(snapshot.records_for(["c:git push"])) == whole


def test_open_reader_keeps_its_base_until_refreshed(tmp_path: Path) -> None:
    """Guards that replacing the file under a reader gives old or new, never a mixture."""
    path = tmp_path / "user"
    write(path, [memory(1)])
    snapshot = opened(path)
    write(path, [memory(number) for number in range(2, 50)], generation=2)
    assert ids(snapshot.records_for(["c:git push"])) == [1]
    assert snapshot.refresh()
    assert len(snapshot.records_for(["c:git push"])) == 48
    os.unlink(path)
    assert snapshot.refresh()
    assert not snapshot.exists
    assert snapshot.all_records() == []


def test_lookup_reads_few_bytes_of_a_large_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards that cost follows what can match: bytes read for one rare word among 3,000."""
    path = tmp_path / "user"
    rare = memory(5000, sig={"kind": "cmd", "plain": plain_of("terraform", "apply")})
    write(path, [*(memory(number) for number in range(3000)), rare])
    snapshot = opened(path)
    read: list[int] = []
    original = os.pread

    def counting(descriptor: int, size: int, offset: int) -> bytes:
        read.append(size)
        return original(descriptor, size, offset)

    monkeypatch.setattr(os, "pread", counting)
    assert ids(snapshot.records_for(["c:terraform apply"])) == [5000]
    assert sum(read) < 2000


def test_long_tail_asks_for_a_new_base(tmp_path: Path) -> None:
    """Guards that the tail, read by every hook process, stays short."""
    path = tmp_path / "user"
    write(path, [])
    generation = 1
    while not tail_is_long(path):
        generation += 1
        append_tail(path, generation, memory(1)["id"], memory(1))
        assert generation < 1000
    shorten_tail(path, generation - 1)
    assert opened(path).generation == generation
    assert not tail_is_long(path)
