"""What recall puts into an event: in budgets, each text once a session, beside baseline rows."""

from typing import Any

from hmd.kernel import event as ev
from hmd.kernel import hot
from hmd.kernel.address import Home
from hmd.kernel.decide import decide
from hmd.kernel.files import FileSources
from hmd.kernel.project import Location, Project
from hmd.kernel.rules import Rules
from hmd.kernel.turn import Turn


def record(name: str, summary: str = "", type_: str = "decision") -> dict[str, Any]:
    return {
        "id": name,
        "type": type_,
        "summary": summary or f"text of {name}",
        "details": "",
        "label": "human",
    }


def event(kind: str, **fields: Any) -> ev.Event:
    made = ev.Event(kind, "claude-code", "s", 1_000)
    made.body = kind
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def said(made: ev.Event, turn: Turn | None = None) -> tuple[str, list[str]]:
    verdict = decide(Rules([]), turn or Turn(), made, "/w")
    return verdict.context, [one.id for one in verdict.fired]


def test_a_prompt_is_given_what_it_recalls() -> None:
    context, fired = said(event(ev.PROMPT, recalled=[record("a"), record("b", type_="fact")]))
    assert context == "[hmd] DECISION (human): text of a\n[hmd] FACT (human): text of b"
    assert fired == ["a", "b"]


def test_each_text_once_a_session() -> None:
    turn = Turn()
    turn.given["a"] = True
    assert said(event(ev.PROMPT, recalled=[record("a"), record("b")]), turn)[1] == ["b"]


def test_items_and_bytes_are_limited() -> None:
    many = [record(str(number)) for number in range(9)]
    assert said(event(ev.PROMPT, recalled=many))[1] == ["0", "1", "2", "3", "4"]
    long = [record("a", "x" * 3000), record("b", "y" * 3000), record("c")]
    assert said(event(ev.PROMPT, recalled=long))[1] == ["a", "c"]


def test_episodes_have_a_budget_of_their_own() -> None:
    many = [record(str(number)) for number in range(5)]
    made = event(ev.PROMPT, recalled=many, past=[record("p", type_="episode"), many[0]])
    context, fired = said(made)
    assert fired == ["0", "1", "2", "3", "4", "p"]
    assert context.endswith("[hmd] EPISODE (human): text of p")


def test_a_fact_beside_a_result() -> None:
    assert said(event(ev.POST_TOOL, recalled=[record("a", type_="fact")]))[1] == ["a"]
    assert said(event(ev.POST_TOOL)) == ("", [])


def test_the_hot_index_is_printed_as_it_is(tmp_path: Any) -> None:
    """Also by a stub alone, from the file; its rows then count as given."""
    home = Home(str(tmp_path))
    (tmp_path / "hot").mkdir()
    (tmp_path / "hot" / "p").write_bytes(hot.encode(["a", "b"], "[hmd] Known:\n- FACT: 배포"))
    project = Project("p", Location("/w", "/w", git=False), enabled=True)
    made = event(ev.SESSION_START)
    FileSources(home, "0" * 12).recall(project, Turn(), made)
    assert said(made) == ("[hmd] Known:\n- FACT: 배포", ["a", "b"])
    assert hot.read(home, "other") == ([], "")
