"""Memories as a team would have them, in any number: the same number gives the same memories.

Of a hundred about 62 are command signatures over some three thousand pairs of program and
subcommand, 20 globs, 15 bound to a place only and 3 for prompts. Signatures that every call must
be held against (regular expressions, substrings, negations) and baseline rows are few in any
store, so their number does not grow.
"""

import random

from hmd.core.memory import Content, Level, MemoryRow, Signature, Trigger

AT = 1_700_000_000_000  # ms; before any call

_KNOWN = {
    "git": "push pull fetch rebase merge commit checkout switch reset stash tag clean cherry-pick "
    "revert bisect worktree submodule branch remote gc",
    "docker": "run build push pull exec compose system volume network rm rmi login tag save",
    "npm": "install ci test run publish audit link update pack version",
    "pnpm": "install add run publish test exec update",
    "yarn": "install add run publish test dlx",
    "cargo": "build test run publish clippy fmt add update bench doc",
    "kubectl": "apply delete get exec logs rollout scale drain port-forward patch",
    "terraform": "apply destroy plan init import taint state workspace",
    "pip": "install uninstall freeze download wheel",
    "poetry": "add install run publish update lock",
    "uv": "add run sync lock pip tool",
    "go": "build test run mod generate vet get install",
    "gh": "pr issue release repo run api workflow",
    "aws": "s3 ec2 iam lambda sts ecs rds",
    "make": "test build clean deploy lint install",
    "systemctl": "restart stop start enable disable reload status",
}
_PLAIN = (
    "rm curl wget sed find chmod chown psql mysql redis-cli ssh scp rsync tar pytest ruff mypy "
)
_STEMS = "acme ops data web core edge cloud mono site infra test ship build model queue graph"
_ENDS = "ctl cli kit run gen lint sync dump load push check admin tool fmt"
_VERBS = (
    "apply build check clean create delete deploy drop export import init lint list migrate pull "
    "push reset restore run seed"
)
_ARGUMENTS = "--force --all --no-verify --prod -y --dry-run main origin --recursive --global"
_PLACES = "src app lib packages services tests docs infra migrations scripts config tools"
_SECTIONS = "api auth billing cart db events files jobs mail orders pages search users web"
_KINDS = ("cmd", "glob", "place", "prompt")
_LEVELS: list[Level] = ["advise", "soft_deny", "confirm", "deny"]
_WEIGHTS = (62, 20, 15, 3)
_BASELINE_AMONG = 130  # of the first ones, those for prompts (about four) are given on each


def _pairs() -> list[str]:
    made = [f"{stem}-{end}" for stem in _STEMS.split() for end in _ENDS.split()]
    pairs = [f"{name} {word}" for name in made for word in _VERBS.split()[:14]]
    pairs += [f"{name} {word}" for name, words in _KNOWN.items() for word in words.split()]
    return pairs + _PLAIN.split()


def _places() -> list[str]:
    sections = _SECTIONS.split()
    own = [f"{one}-{two}" for one in _STEMS.split() for two in sections]
    return [f"{top}/{one}" for top in _PLACES.split() for one in sections] + own


PAIRS, PLACES = _pairs(), _places()
# What the bucket index cannot narrow down: the same few at every size.
_EVERYWHERE = [
    Signature(kind="regex", pattern=r"--password[= ]\S+"),
    Signature(kind="substring", pattern="DROP TABLE"),
    Signature(kind="regex", pattern=r"curl .*\| *(ba)?sh"),
]


def _signature(chance: random.Random, kind: str) -> Signature | None:
    if kind == "cmd":
        words = chance.choice(PAIRS)
        if chance.random() < 0.5:
            words += " " + chance.choice(_ARGUMENTS.split())
        return Signature(pattern=words)
    if kind == "glob":
        tool = chance.choice(["edit", "edit", "write"])
        return Signature(
            tool=tool, target="file_path", kind="glob", pattern=chance.choice(PLACES) + "/**"
        )
    return None


def memories(number: int, project: str | None) -> list[MemoryRow]:
    """`number` active memories in the order of their ids."""
    chance = random.Random(number)
    return [_memory(chance, at, project) for at in range(number)]


def _memory(chance: random.Random, at: int, project: str | None) -> MemoryRow:
    kind = chance.choices(_KINDS, _WEIGHTS)[0]
    sig = _signature(chance, kind)
    if at < len(_EVERYWHERE):
        kind, sig = "cmd", _EVERYWHERE[at]
    triggers: list[Trigger] = ["before_tool"]
    if kind == "prompt":
        triggers = ["session_start", "before_model"]
    level = chance.choices(_LEVELS, (88, 7, 2, 3))[0]
    about = sig.pattern if sig is not None else chance.choice(PLACES)
    content = Content(
        type="decision" if kind == "prompt" else chance.choice(["pitfall", "pitfall", "workflow"]),
        summary=f"{about} fails here unless the environment of case {at} is prepared first.",
        details="Seen twice; the second time it cost an afternoon." if at % 3 else "",
        scope=about + "/**" if kind == "place" else "**",
        triggers=triggers,
        sig=sig,
        level=level if sig is not None else "advise",
        authority=chance.choice(["human", "auto"]),
        importance=round(chance.uniform(0.2, 0.9), 2),
        status="active",
        baseline=kind == "prompt" and at < _BASELINE_AMONG,
    )
    fields = {name: getattr(content, name) for name in Content.__struct_fields__}
    return MemoryRow(
        **fields, id=f"{at:032x}", version=f"{at:032x}", project=project, recorded_at=AT
    )
