"""One lesson that several tests of learning teach: npm fails here, and pnpm works."""

from hmd.app import queue
from hmd.core.learning import EpisodeRow
from hmd.core.queue import QueueFilter
from tests.app.school import Pupil, School, command, fact

NPM_FAILS = 'Exit code 1\nnpm ERR! Missing script: "test"'


def correct(pupil: Pupil) -> None:
    """A failing command, the user's correction, the command that works."""
    pupil.say("run the tests")
    pupil.bash("npm test", NPM_FAILS)
    pupil.stop("It fails.")
    pupil.say("don't use npm here, use pnpm")
    pupil.bash("pnpm test")
    pupil.stop("They pass.")


NPM_RULE = fact(trigger_signature=command("npm test"), evidence_refs=["@use pnpm"])


async def episodes(made: School) -> list[EpisodeRow]:
    return (await queue.list_(made.app, made.caller, QueueFilter(state="all"))).rows
