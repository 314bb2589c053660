"""Guards the junk rate over a hundred ordinary turns: one wrong guard, two wrong fixes at most."""

import json
from pathlib import Path
from typing import Any

from hmd.learn.episodes import IDLE, fold_session
from hmd.learn.fixes import Book, learn
from tests.learn.play import Session

TURNS = Path(__file__).parent / "junk" / "turns.json"


def play(script: dict[str, Any]) -> tuple[Session, list[tuple[str, str]]]:
    """The session, and every guard that its prompts made: (prompt, key)."""
    session = Session(script["id"])
    guards = []
    session.start()
    for turn in script["turns"]:
        session.say(turn["say"])
        made = session.records[-1]["guards"]
        guards += [(turn["say"], guard["key"]) for guard in made]
        for tool, target, *outcome in turn["do"]:
            error = outcome[1] if outcome else ""
            if tool == "bash":
                session.bash(target, error)
            elif tool == "fetch":
                session.call("WebFetch", {"url": target}, error)
            elif tool == "read":
                session.read(target)
            else:
                session.call(tool.capitalize(), {"file_path": f"/srv/app/{target}"}, error)
        session.stop(turn["reply"])
    session.end()
    return session, guards


def test_ordinary_turns_teach_next_to_nothing() -> None:
    sessions = json.loads(TURNS.read_text(encoding="utf-8"))["sessions"]
    assert sum(len(script["turns"]) for script in sessions) == 100
    wrong_guards, wrong_fixes, right_guards = [], [], 0
    for script in sessions:
        session, guards = play(script)
        wanted = {turn["say"]: turn["guard"] for turn in script["turns"] if "guard" in turn}
        right_guards += sum(wanted.get(said) == key for said, key in guards)
        wrong_guards += [guard for guard in guards if wanted.get(guard[0]) != guard[1]]
        allowed = {fix for turn in script["turns"] for fix in turn.get("fix", [])}
        book = Book()
        records = session.records
        learn(book, fold_session("claude-code", session.name, records, session.at + IDLE))
        wrong_fixes += [fix for fix in book.fixes.values() if fix.fix not in allowed]
    assert right_guards == 2
    assert len(wrong_guards) <= 1, wrong_guards
    assert len(wrong_fixes) <= 2, [(fix.key, fix.fix) for fix in wrong_fixes]
