"""What each job does; `hmd.app.jobs` says what they mean. Pure but for the files that they read."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from hmd.app import jobs
from hmd.kernel.address import Home
from hmd.learn import prompt, schema
from hmd.learn.candidates import keep
from hmd.learn.consolidate import consolidate
from hmd.learn.reconcile import reconcile
from hmd.learn.rows import Add, Attach, Planned, Revise
from hmd.learn.validate import check
from hmd.store.tombstones import Marks
from hmd.worker import notes, past
from hmd.worker.sessions import Session, Sessions, whole_session


class Jobs:
    """Does jobs one after another; keeps the sessions that were read last."""

    def __init__(self) -> None:
        self._sessions = Sessions()
        self._todo: dict[type[Struct], Callable[..., Struct]] = {
            jobs.ReadSession: self.read_session,
            jobs.RenderEpisode: self.render_episode,
            jobs.Judge: self.judge,
            jobs.Consolidate: self.consolidate,
            jobs.KeepGuards: self.keep_guards,
            jobs.ReadNotes: self.read_notes,
            jobs.DropPast: self.drop_past,
        }

    def do(self, job: jobs.AnyJob) -> Struct:
        return self._todo[type(job)](job)

    def read_session(self, job: jobs.ReadSession) -> jobs.SessionDigest:
        session = self._session(job, job.now)
        return jobs.SessionDigest(
            size=session.offset,
            ended=session.ended,
            open=session.open,
            episodes=session.rows,
            fixes=session.fixes(),
            failed=session.failed(),
            receipts=list(session.receipts.values()),
            guards=session.guards,
            finished=session.finished,
            calls=session.calls,
        )

    def render_episode(self, job: jobs.RenderEpisode) -> jobs.Rendered:
        episode = self._session(job, 0).episode(job.episode)
        if episode is None:
            return jobs.Rendered()
        return jobs.Rendered(
            prompt=prompt.render(episode, job.rows),
            schema=schema.json_schema(),
            version=f"{prompt.VERSION}.{schema.VERSION}",
        )

    def judge(self, job: jobs.Judge) -> jobs.Judged:
        home = _home(job)
        episode = self._session(job, 0).episode(job.episode)
        if episode is None:
            return jobs.Judged(gone=True)
        answer = schema.read_answer(job.answer, len(episode.records))
        checked = check(answer, episode, job.state.rows.values())
        judged = jobs.Judged(
            suspect=checked.suspect, summary=answer.episode_summary, facts=len(answer.facts)
        )
        judged.rejected = [
            jobs.Rejection(code=one.code, reason=one.reason, summary=one.summary)
            for one in checked.rejected
        ]
        if not checked.suspect:
            judged.plan = reconcile(
                job.state,
                episode,
                checked.learned,
                job.settings,
                job.now,
                past=past.read(home, episode.project) if checked.learned else (),
                forgotten=_forgotten(home, job.forgotten),
                run=job.run,
            )
        return judged

    def consolidate(self, job: jobs.Consolidate) -> jobs.Planned:
        return jobs.Planned(plan=consolidate(job.state, job.settings, job.now))

    def keep_guards(self, job: jobs.KeepGuards) -> jobs.Planned:
        home = _home(job)
        episodes = whole_session(home, job.session, job.now)
        # A guard speaks of calls before it, whatever project's they were.
        mine = [one.id for one in episodes if one.project == job.project]
        plan = keep(
            job.state,
            episodes,
            job.settings,
            job.now,
            past=past.read(home, job.project),
            forgotten=_forgotten(home, job.forgotten),
        )
        plan.changes = [one for one in plan.changes if _is_of(one, mine)]
        return jobs.Planned(plan=plan)

    def read_notes(self, job: jobs.ReadNotes) -> jobs.Notes:
        return notes.read(job.paths, job.root, job.kinds)

    def drop_past(self, job: jobs.DropPast) -> jobs.Dropped:
        return jobs.Dropped(files=past.drop(_home(job), job.before, job.sessions))

    def _session(
        self, job: jobs.ReadSession | jobs.RenderEpisode | jobs.Judge, now: int
    ) -> Session:
        return self._sessions.get(_home(job), job.session, now)


def _is_of(change: Planned, episodes: list[str]) -> bool:
    """Whether a planned change rests on one of these episodes."""
    if isinstance(change, Attach):
        return change.support.episode in episodes
    if isinstance(change, (Add, Revise)):
        return any(one.episode in episodes for one in change.row.supports)
    return False


def _home(job: jobs.Job) -> Home:
    return Home(job.home, job.machine)


def _forgotten(home: Home, marks: list[str]) -> Callable[[str], bool]:
    if not marks:
        return lambda text: False
    known, maker = frozenset(marks), Marks.of(Path(home.database).parent)
    return lambda text: maker.mark("text", text) in known
