"""A scripted provider: recorded answers, given in turn. For `hmctl eval replay` and tests.

`replay/answers.jsonl` under the home holds one answer a line: `when` is text that the prompt must
contain ("" for any), `answer` what the model says, or `status` and `message` for a failure. Each
is given once; to a prompt that no line fits the answer is that there is nothing to learn. In
`evidence_refs` an entry `@text` stands for the first citable line of the prompt that contains
`text`, so that recordings need no line numbers.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct, field
from msgspec.json import Decoder

from hmd.providers.base import Answer, Place, Recorded, Request, Status, Usage

NAME = "replay"
ANSWERS, USED = "answers.jsonl", "used"
_LINE = re.compile(r"^\s*(e\d+)\b.*$", re.MULTILINE)


class Scripted(Struct, kw_only=True):
    """One line of the script."""

    when: str = ""
    answer: dict[str, Any] = field(default_factory=dict)
    status: Status = "ok"
    message: str = ""
    usage: Usage = field(default_factory=Usage)


_NOTHING: dict[str, Any] = {"episode_summary": "", "nothing_to_learn": True, "facts": []}
_decode = Decoder(Scripted).decode


def locate(environ: Mapping[str, str], recorded: Recorded) -> str:
    """The script's folder."""
    return environ.get("HMD_REPLAY", "")


async def ask(request: Request, place: Place) -> Answer:
    return await trio.to_thread.run_sync(_answer, request, Path(place.program))


def _answer(request: Request, folder: Path) -> Answer:
    try:
        lines = (folder / ANSWERS).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        return Answer(status="missing", message=f"no script: {error.strerror}")
    used = _used(folder)
    for number, line in enumerate(lines):
        if not line.strip() or number in used:
            continue
        scripted = _decode(line)
        if scripted.when in request.prompt:
            (folder / USED).write_text(json.dumps(sorted({*used, number})), encoding="utf-8")
            return _given(scripted, request.prompt)
    return _given(Scripted(answer=_NOTHING), request.prompt)


def _used(folder: Path) -> set[int]:
    try:
        return set(json.loads((folder / USED).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return set()


def _given(scripted: Scripted, prompt: str) -> Answer:
    text = json.dumps(_cited(scripted.answer, prompt), ensure_ascii=False)
    return Answer(
        status=scripted.status,
        text=text if scripted.status == "ok" else "",
        raw=text,
        message=scripted.message,
        usage=scripted.usage,
    )


def _cited(answer: dict[str, Any], prompt: str) -> dict[str, Any]:
    facts = []
    for fact in answer.get("facts", []):
        refs = [_reference(str(one), prompt) for one in fact.get("evidence_refs", [])]
        facts.append({**fact, "evidence_refs": refs})
    return {**answer, "facts": facts} if "facts" in answer else answer


def _reference(text: str, prompt: str) -> str:
    if not text.startswith("@"):
        return text
    lines = [found for found in _LINE.finditer(prompt) if text[1:] in found.group()]
    return lines[0].group(1) if lines else text
