"""Asks the user's own CLI about one episode after another, and makes of its answers what they
deserve: validated, reconciled, recorded with their cost.

One call at a time. A call's answer is on disk before anything is made of it, under a run id that
follows from episode and attempt, so that a crash in between costs no second call.
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec
import trio

from hmd.app import costs, queue
from hmd.app.context import DAY_MS, App
from hmd.app.jobs import Judge, Judged, Rendered, RenderEpisode, Worker
from hmd.app.learned import load_state
from hmd.app.learned_changes import write_plan
from hmd.core import machine
from hmd.core.changes import AnyChange, Batch, RecordRun
from hmd.core.config import Extraction as Settings
from hmd.core.errors import HmdError
from hmd.core.learning import EpisodeRow, RunRow
from hmd.kernel.address import digest
from hmd.kernel.redact import redact
from hmd.providers import probe
from hmd.providers.base import UNAVAILABLE, Answer, Place, Provider, Recorded, Request
from hmd.providers.environment import child_environment
from hmd.providers.table import PROVIDERS, choose
from hmd.store import episode_queue, learning, provider_runs

HOUR_MS = 3_600_000
_recorded = msgspec.json.Decoder(Recorded).decode


class Extraction:
    """`say` takes lines for the log; `environ` is the daemon's own environment."""

    def __init__(
        self, app: App, worker: Worker, environ: Mapping[str, str], say: Callable[[str], object]
    ) -> None:
        self._app = app
        self._worker = worker
        self._environ = environ
        self._say = say
        self._one = trio.Lock()
        self._asking = trio.CancelScope()
        self._leased: set[str] = set()
        # From reading what is known to writing what follows: two plans at once, made from the same
        # memories, would both add what neither found.
        self.planning = trio.Lock()
        self.waiting = ""  # why the queue stands still, "" where it does not

    # -- serving the queue --

    async def serve(self, provider: str = "", *, now: bool = False) -> RunRow | None:
        """Takes the next episode that may be served; None where there is none (`waiting` says
        why). `now`: episodes that wait for their time, too. Never raises for a provider's fault."""
        async with self._one:
            self._leased = set()
            with trio.CancelScope() as self._asking:
                while True:
                    before = len(self._leased)
                    run = await self._serve(provider, anytime=now)
                    if run is not None or len(self._leased) == before:
                        return run
            return None  # given up for an erasing: the episode comes again when its lease ends

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Gives up the call at hand, whose answer may speak of what is being erased, and plans
        nothing meanwhile."""
        self._asking.cancel()
        async with self._one, self.planning:
            yield

    async def _serve(self, wanted: str, *, anytime: bool) -> RunRow | None:
        app, now = self._app, self._app.now()
        settings = app.config.user.extraction
        self.waiting = ""
        if not settings.enabled:
            self.waiting = "extraction is switched off"
            return None
        runs = await app.store.read(lambda connection: provider_runs.runs(connection, now - DAY_MS))
        room = costs.room(runs, settings)
        if room == "none":
            self.waiting = "the daily cap is reached"
            return None
        horizon = now + 365 * DAY_MS if anytime else now
        due = await self._next_due()
        if due is None or (due > now and not anytime):
            return None  # nothing to ask about: no reason to probe either
        found = await self._usable(wanted or settings.provider, settings, now)
        if found is None:
            return None
        until = now + settings.lease_seconds * 1000
        row = await app.store.operate(
            partial(
                episode_queue.lease, now=horizon, until=until, exempt_only=room == "corrections"
            )
        )
        if row is None:
            if room == "corrections":
                self.waiting = "the daily cap is reached, corrections alone are served"
            return None
        if row.id in self._leased:
            await self._put(queue.waits(row, row.reason, row.not_before))
            return None
        self._leased.add(row.id)  # one that needs no call makes room for the next
        return await self._extract(row, *found, settings)

    async def _next_due(self) -> int | None:
        return await self._app.store.read(episode_queue.next_due)

    async def _extract(
        self, row: EpisodeRow, provider: Provider, place: Place, settings: Settings
    ) -> RunRow | None:
        app = self._app
        project = await app.store.get_project(row.project)
        if project is None or project.forgotten_at is not None:
            await self._put(msgspec.structs.replace(row, state="dropped", reason="project is gone"))
            return None
        where = app.config.at(project.locations[0] if project.locations else "")
        if not where.extraction.enabled:
            await self._put(queue.waits(row, "switched off for the project", app.now() + DAY_MS))
            return None
        asks = row.correction or row.remember
        if not asks and await self._prompts(row.session) < where.extraction.min_prompts:
            await self._put(queue.waits(row, "the session is short", app.now() + HOUR_MS))
            return None
        state = await load_state(app, project.id, app.now())
        rendered = await self._worker.run(
            RenderEpisode(**self._where(row), rows=list(state.rows.values())), Rendered
        )
        if not rendered.prompt:
            await self._put(msgspec.structs.replace(row, state="dropped", reason="ledger is gone"))
            return None
        run = RunRow(
            id=digest(f"run\x1f{row.id}\x1f{row.attempts}", 32),
            episode=row.id,
            project=project.id,
            provider=provider.NAME,
            started=app.now(),
            exempt=row.correction,
        )
        answer = self._kept(run.id) or await self._ask(provider, place, rendered, where.extraction)
        self._keep(run.id, answer)
        _account(run, answer)
        if answer.status != "ok":
            await self._failed(row, run, answer)
            return run
        async with self.planning:
            judge = Judge(
                **self._where(row),
                answer=answer.text,
                state=await load_state(app, project.id, app.now()),  # as it is after the call
                settings=where,
                now=app.now(),
                run=run.id,
                forgotten=await app.store.read(learning.tombstones),
            )
            judged = await self._worker.run(judge, Judged)
            await self._apply(row, run, judged, judge)
        return run

    async def _apply(self, row: EpisodeRow, run: RunRow, judged: Judged, judge: Judge) -> None:
        """Records the run and everything it leads to in one change."""
        app = self._app
        if judged.suspect or judged.gone:
            run.status, run.message = "invalid_output", judged.suspect or "the ledger is gone"
            self._keep(f"{run.id}.{row.attempts}", Answer(status="ok", raw=judge.answer))
            await self._failed(row, run, Answer(status="invalid_output", message=run.message))
            return
        run.counts = {**judged.plan.counts, "facts": judged.facts}
        for one in judged.rejected:
            run.counts[one.code] = run.counts.get(one.code, 0) + 1
            self._say(f"episode {row.id[:8]}: a fact was not taken, {one.code}: {one.reason}")
        made: list[AnyChange] = []
        if await app.store.read(partial(provider_runs.get_run, run=run.id)) is None:
            made = await write_plan(app, judged.plan.changes, judge.settings)
        record = RecordRun(actor="extraction", at=app.now(), run=run)
        try:
            await app.make(Batch(actor="extraction", at=app.now(), changes=[record, *made]))
        except HmdError as error:
            if error.code not in ("refused", "not_found"):
                raise
            # A person changed what the plan rests on while the model was thinking.
            run.status, run.message = "provider_error", str(error)
            await self._failed(row, run, Answer(status="provider_error", message=str(error)))
            return
        summary = redact(judged.summary)[:300]
        done = msgspec.structs.replace(
            row, state="done", run=run.id, leased_until=0, reason="", attempts=row.attempts + 1
        )
        if summary:
            done.summary, done.told = summary, "extracted"
        await self._put(done)

    async def _failed(self, row: EpisodeRow, run: RunRow, answer: Answer) -> None:
        app = self._app
        await app.make(RecordRun(actor="extraction", at=app.now(), run=run))
        why = f"{answer.status}: {answer.message}".rstrip(": ")
        if answer.status in UNAVAILABLE:
            self.waiting = answer.status
            await self._put(queue.waits(row, why, app.now() + probe.RETRY_MS))
        else:
            await self._put(queue.failed(row, why, app.now()))
            self._drop(run.id)

    async def _prompts(self, session: str) -> int:
        rows = await self._app.store.read(partial(episode_queue.episodes_of, session=session))
        return max((row.turn for row in rows), default=0)

    async def _put(self, row: EpisodeRow) -> None:
        row = msgspec.structs.replace(row, leased_until=0)
        await self._app.store.operate(partial(episode_queue.put_episode, row=row))

    # -- prompts that would be sent --

    async def dry_run(self, limit: int) -> list[str]:
        """The prompts of what waits, exactly as they would be sent."""
        app = self._app
        rows = await app.store.read(
            lambda connection: episode_queue.episodes(connection, queue.OPEN, limit)
        )
        prompts = []
        for row in rows:
            state = await load_state(app, row.project, app.now())
            job = RenderEpisode(**self._where(row), rows=list(state.rows.values()))
            rendered = await self._worker.run(job, Rendered)
            if rendered.prompt:
                prompts.append(rendered.prompt)
        return prompts

    # -- the provider --

    def _chosen(self, wanted: str) -> tuple[Provider, str] | None:
        home = self._app.store.home
        environ = {"HMD_REPLAY": home.path + "/replay", **self._environ}
        return choose(wanted, environ, self.recorded())

    def recorded(self) -> Recorded:
        """What install wrote down; nothing where it did not run or its receipt is damaged."""
        try:
            return _recorded(Path(self._app.store.home.receipt).read_bytes())
        except (OSError, msgspec.MsgspecError):
            return Recorded()

    async def _usable(
        self, wanted: str, settings: Settings, now: int
    ) -> tuple[Provider, Place] | None:
        """The provider with its place; None where none works (`waiting` says why)."""
        if wanted != "auto" and wanted not in PROVIDERS:
            raise HmdError("usage", f"'{wanted}' is no provider", do="claude, codex or replay")
        found = self._chosen(wanted)
        if found is None:
            self.waiting = "missing"
            return None
        provider, program = found
        place = Place(
            program=program,
            folder=await trio.to_thread.run_sync(self._neutral),
            environ=child_environment(self._environ, self.recorded()),
        )
        if provider.NAME == "replay":
            return provider, place
        latest = await self._app.store.read(
            partial(provider_runs.latest_run, provider=provider.NAME)
        )
        if latest is None or probe.is_due(latest.status, latest.started, now):
            latest = await self._probe(provider, place, settings)
        elif latest.status not in UNAVAILABLE and latest.kind == "extraction":
            return provider, place  # it answered: what was wrong lay with the answer
        if latest.status != "ok":
            self.waiting = latest.status
            return None
        return provider, place

    async def _probe(self, provider: Provider, place: Place, settings: Settings) -> RunRow:
        app = self._app
        seconds = settings.probe_timeout_ms / 1000
        run = RunRow(
            id=digest(f"probe\x1f{provider.NAME}\x1f{app.now()}", 32),
            kind="probe",
            provider=provider.NAME,
            started=app.now(),
            exempt=True,
        )
        _account(run, await probe.probe(provider, place, settings.model, seconds))
        await app.make(RecordRun(actor="extraction", at=app.now(), run=run))
        if run.status != "ok":
            self._say(f"provider {provider.NAME}: {run.status} {run.message}".rstrip())
        return run

    async def _ask(
        self, provider: Provider, place: Place, rendered: Rendered, settings: Settings
    ) -> Answer:
        request = Request(
            prompt=rendered.prompt,
            schema=rendered.schema,
            model=settings.model,
            timeout_s=settings.timeout_ms / 1000,
        )
        return await provider.ask(request, place)

    def _neutral(self) -> Path:
        """An empty private directory outside every repository."""
        folder = Path(self._app.store.home.run, "extract")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in folder.iterdir():
            if left.is_file() or left.is_symlink():
                left.unlink()
        return folder

    # -- raw answers, kept 24 h --

    def _raw(self, run: str) -> Path:
        return Path(self._app.store.home.path, "raw", run + ".json")

    def _keep(self, run: str, answer: Answer) -> None:
        kept = msgspec.structs.replace(
            answer, raw=redact(answer.raw[:500_000]), text=redact(answer.text)
        )
        path = self._raw(run)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | machine.NOT_INHERITED
            descriptor = os.open(path, flags, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(kept))
        except OSError as error:
            self._say(f"an answer could not be kept: {error.strerror}")

    def _kept(self, run: str) -> Answer | None:
        """An answer that came before a crash; it was paid for."""
        try:
            answer = msgspec.json.decode(self._raw(run).read_bytes(), type=Answer)
        except (OSError, msgspec.MsgspecError):
            return None
        return answer if answer.status == "ok" else None

    def _drop(self, run: str) -> None:
        path = self._raw(run)
        if path.exists():  # what was invalid stays 24 h, and is not taken for an answer again
            machine.replace(path, path.with_suffix(".failed.json"))

    def _where(self, row: EpisodeRow) -> dict[str, str]:
        home = self._app.store.home
        return {
            "home": home.path,
            "machine": home.machine,
            "session": row.session,
            "episode": row.id,
        }


def _account(run: RunRow, answer: Answer) -> None:
    run.status, run.message = answer.status, redact(answer.message)
    run.duration_ms = answer.duration_ms
    usage = answer.usage
    run.model, run.cost_usd = usage.model, usage.cost_usd
    run.input_tokens, run.output_tokens = usage.input_tokens, usage.output_tokens
    run.cached_tokens = usage.cached_tokens
