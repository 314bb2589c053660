"""A real child process with the small model, and what becomes of one that fails."""

import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from hmd.core.errors import HmdError
from hmd.encoder.child import Encoder
from hmd.encoder.parent import EncoderProcess, Loader, command
from hmd.encoder.protocol import Ask, Embed, Load, encode

TEXTS = ["deploy with kubectl", "tests run under vitest", "배포는 금요일에 하지 않는다"]


@asynccontextmanager
async def running(encoder: EncoderProcess) -> AsyncIterator[EncoderProcess]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(encoder.run)
        with trio.fail_after(60):
            yield encoder
        nursery.cancel_scope.cancel()


async def until(encoder: EncoderProcess, state: str) -> None:
    while encoder.state != state:
        await trio.sleep(0.01)


def scripted(
    body: str, hang_s: float = 20.0, shelves: Loader = list
) -> tuple[EncoderProcess, list[str]]:
    """An encoder whose child is a few lines of Python with the protocol at hand."""
    said: list[str] = []
    head = (
        "import os, sys, time\nfrom hmd.encoder.protocol import *\n"
        "def say(one): os.write(1, framed(encode(one)))\n"
        "def hear(): return decode_message(read_frame(lambda size: os.read(0, size)))\n"
    )
    argv = [sys.executable, "-c", head + body]
    return EncoderProcess(argv, said.append, shelves, hang_s=hang_s, first_pause_s=0.01), said


async def test_it_embeds_and_finds() -> None:
    """The way of a text: embedded, made known, found by a question like it."""
    async with running(EncoderProcess(command("hash", "", 60), print)) as encoder:
        vectors = await encoder.embed(TEXTS)
        assert len(vectors) == 3 and encoder.state == "ready" and encoder.dimension == 256
        known = dict(zip("abc", vectors, strict=True))
        await encoder.load(Load(shelf="p", vectors=known))
        found = await encoder.ask("금요일 배포", ["p"], 30)
        assert found is not None and found[0][1] == "c" and found[0][0] > 0.3
        assert await encoder.ask("vitest", ["other"], 30) == []
        await encoder.load(Load(shelf="p", drop=["c"]))
        found = await encoder.ask("금요일 배포", ["p"], 30)
        assert found is not None and {name for _, name in found} == {"a", "b"}


async def test_a_new_process_knows_what_the_old_one_knew() -> None:
    async with running(EncoderProcess(command("hash", "", 60), print)) as encoder:
        known = dict(zip("abc", await encoder.embed(TEXTS), strict=True))
        again = EncoderProcess(
            command("hash", "", 60), print, lambda: [Load(shelf="p", vectors=known)]
        )
        async with running(again):
            again.warm()
            await until(again, "ready")
            found = await again.ask("kubectl deploy", ["p"], 30)
            assert found is not None and found[0][1] == "a"


async def test_a_cold_one_keeps_nobody_waiting() -> None:
    """No answer at once, and it is started for the next question."""
    async with running(EncoderProcess(command("hash", "", 60), print)) as encoder:
        began = time.monotonic()
        assert await encoder.ask("anything", ["p"], 10) is None
        assert time.monotonic() - began < 5
        await until(encoder, "ready")
        assert await encoder.ask("anything", ["p"], 30) == []


async def test_one_that_hangs_costs_the_time_limit_and_is_ended() -> None:
    encoder, said = scripted("say(Hello(model='m', dimension=2))\ntime.sleep(100)\n", hang_s=0.3)
    async with running(encoder):
        encoder.warm()
        await until(encoder, "ready")
        pid = encoder.pid
        assert await encoder.ask("anything", ["p"], 0.05) is None
        while not said:
            await trio.sleep(0.01)
        assert "no answer" in said[0] and encoder.pid != pid


async def test_one_that_dies_is_started_again() -> None:
    encoder, said = scripted("say(Hello(model='m', dimension=2))\nhear()\nsys.exit(3)\n")
    async with running(encoder):
        encoder.warm()
        await until(encoder, "ready")
        assert await encoder.ask("anything", ["p"], 30) is None
        with pytest.raises(HmdError):
            await encoder.embed(["a"])
        encoder.warm()
        await until(encoder, "ready")
        assert "ended with 3" in said[0]


async def test_one_without_a_model_says_why() -> None:
    encoder, said = scripted("say(Hello(error='ModuleNotFoundError: torch'))\n")
    async with running(encoder):
        with pytest.raises(HmdError, match="torch"):
            await encoder.embed(["a"])
        assert "torch" in said[0]


async def test_a_question_goes_before_a_backfill() -> None:
    body = (
        "say(Hello(model='m', dimension=1))\n"
        "while True:\n"
        "    one = hear()\n"
        "    if isinstance(one, Embed): time.sleep(0.02); "
        "say(Reply(vectors=[Packed(b'a', 1.0)] * len(one.texts)))\n"
        "    else: say(Reply(nearest=[(1.0, 'x')]))\n"
    )
    encoder, _ = scripted(body)
    async with running(encoder):
        encoder.warm()
        await until(encoder, "ready")
        done: list[str] = []

        async def backfill() -> None:
            await encoder.embed(["t"] * 200)
            done.append("backfill")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(backfill)
            await trio.sleep(0.05)
            assert await encoder.ask("q", ["p"], 30) == [(1.0, "x")]
            assert not done
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "said_first", [r"b'\xff' * 8", r"b'\0\0\0\2{}'", "b''", r"framed(b'\xc1')", "b'HTTP/1.1 200'"]
)
async def test_one_that_speaks_otherwise_is_ended_at_once(said_first: str) -> None:
    """Whatever stands at its start, or in place of a reply: it is ended, and it is said why."""
    for before in ("", "say(Hello(model='m', dimension=2))\nhear()\n"):
        encoder, said = scripted(f"{before}os.write(1, {said_first})\nos.close(1)\ntime.sleep(50)")
        async with running(encoder):
            with pytest.raises(HmdError):
                await encoder.embed(["a"])
            while not said:
                await trio.sleep(0.01)
            expected = (
                "it closed its pipes" if said_first == "b''" else "none" if before else "speak"
            )
            assert expected in said[0], said


async def test_a_reply_without_the_vectors_is_an_error() -> None:
    """Too few, too many, or a word of trouble: nothing is stored as a vector of a text."""
    for reply in ("vectors=[]", "vectors=[Packed(b'a', 1.0)] * 3", "error='MemoryError: '"):
        encoder, said = scripted(
            f"say(Hello(model='m', dimension=1))\nwhile hear(): say(Reply({reply}))\n"
        )
        async with running(encoder):
            with pytest.raises(HmdError):
                await encoder.embed(["a"])
            assert said == [] and encoder.state == "ready"
            assert await encoder.ask("a", ["p"], 30) in (None, [])


class Empty:
    """A model with no memory left."""

    dimension = 2
    learned = False

    def questions(self, texts: Sequence[str]) -> list[Sequence[float]]:
        raise MemoryError

    passages = questions


def test_a_model_without_memory_says_so_and_the_child_goes_on() -> None:
    child = Encoder(Empty())
    for message in (Embed(texts=["a"]), Ask(text="a", shelves=["p"])):
        assert child.answer(encode(message)).error.startswith("MemoryError")
    assert child.answer(b"\xc1").error and child.answer(encode(Load(shelf="p"))).error == ""


async def test_one_that_could_not_take_vectors_is_replaced(tmp_path: Path) -> None:
    """It would search without them and nobody would know; the next one is given all of them."""
    second = tmp_path / "second"
    body = (
        f"import pathlib; again = pathlib.Path({str(second)!r}); good = again.exists()\n"
        "again.touch()\nsay(Hello(model='m', dimension=1))\n"
        "while one := hear(): say(Reply(error='' if good else 'MemoryError: '))\n"
    )
    encoder, said = scripted(body)
    async with running(encoder):
        encoder.warm()
        await until(encoder, "ready")
        await encoder.load(Load(shelf="p"))
        while not said:
            await trio.sleep(0.01)
        assert "MemoryError" in said[0]
        encoder.warm()
        await until(encoder, "ready")
        await encoder.load(Load(shelf="p"))
        assert encoder.state == "ready" and len(said) == 1


async def test_one_that_cannot_take_what_was_known_does_not_get_ready() -> None:
    body = "say(Hello(model='m', dimension=1))\nwhile hear(): say(Reply(error='MemoryError: '))\n"
    encoder, _ = scripted(body, shelves=lambda: [Load(shelf="p")])
    async with running(encoder):
        with pytest.raises(HmdError, match="MemoryError"):
            await encoder.embed(["a"])


async def test_nobody_waits_for_one_that_was_given_up() -> None:
    """Another model is chosen while the first is being loaded: its backfill ends."""
    encoder, _ = scripted("time.sleep(100)\n")
    refused: list[HmdError] = []

    async def wait() -> None:
        with pytest.raises(HmdError) as info:
            await encoder.embed(["a"])
        refused.append(info.value)

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            async with running(encoder):
                nursery.start_soon(wait)
                await until(encoder, "starting")
            await wait()
    assert len(refused) == 2
