"""The wire client against a scripted server, and once against a real daemon that it starts."""

import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from hmd import __version__, link
from hmd.core.answers import Outcome, Pong
from hmd.core.errors import HmdError
from hmd.core.memory_calls import MemoryList
from hmd.daemon.serve import usage_error
from hmd.kernel import frame
from hmd.kernel.address import Home
from tests.live.instance import Instance, short_directory

PONG = frame.answer(frame.OK, b'{"pid":1,"ready":true,"later field":0}')


class Script:
    """A server that gives each connection the next reply; None hangs up without one."""

    def __init__(self, home: Home) -> None:
        os.makedirs(home.run, mode=0o700)
        self.home = home
        self.requests: list[bytes] = []
        self.replies: list[bytes | None] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(home.socket)
        self._listener.listen()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                data = connection.recv(65536)
                if not data:
                    return
                self.requests.append(data)
                reply = self.replies.pop(0)
                for at in range(0, len(reply or b""), 7):  # in pieces, as a kernel may deliver it
                    connection.sendall((reply or b"")[at : at + 7])

    def close(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
            last.connect(self.home.socket)
        self._thread.join()
        self._listener.close()


@pytest.fixture
def script() -> Iterator[Script]:
    with short_directory() as directory:
        made = Script(Home(str(directory / "home")))
        yield made
        made.close()


def call(script: Script, method: str, result: type[Any], **options: Any) -> Any:
    return link.call(script.home, method, {}, result, start_daemon=False, environ={}, **options)


def test_an_answer_is_decoded_and_unknown_fields_are_skipped(script: Script) -> None:
    """Guards newer daemons: what this client does not know is not its trouble."""
    script.replies = [PONG]
    assert call(script, "ping", Pong) == Pong(pid=1, ready=True)


def test_the_request_says_who_asks_and_from_where(script: Script) -> None:
    """Guards actor and directory, on which authority and project rest."""
    script.replies = [PONG]
    link.call(script.home, "ping", {}, Pong, actor="agent_cli", cwd="/w\n", environ={"HOME": "/h"})
    head, _, rest = script.requests[0].partition(b"\n")
    kind, header_size, _ = frame.parse_request_head(head)
    header = frame.parse_header(rest[:header_size])
    assert kind == frame.CALL
    assert (header["actor"], header["cwd"], header["env.HOME"]) == ("agent_cli", "/w\n", "/h")
    assert header["method"] == "ping" and header["proto"] == "1"


def test_an_error_keeps_its_words(script: Script) -> None:
    """Guards what the person at the other end reads, and codes that this client does not know."""
    script.replies = [
        frame.answer(frame.ERROR, b'{"code":"not_found","what":"no memory","do":"list"}'),
        frame.answer(frame.ERROR, b'{"code":"of a later version","what":"x"}'),
        frame.answer(frame.ERROR, b"not json"),
        frame.answer(frame.ERROR, usage_error("what")),
    ]
    codes = []
    for _ in range(4):
        with pytest.raises(HmdError) as caught:
            call(script, "memory.list", MemoryList)
        codes.append(caught.value.code)
    assert codes == ["not_found", "internal", "internal", "usage"]


def test_a_reading_is_asked_again_once(script: Script) -> None:
    """Guards retries: a question that broke off is put once more, not for ever."""
    script.replies = [None, PONG]
    assert call(script, "ping", Pong).pid == 1
    script.replies = [PONG[:-1], None]
    with pytest.raises(HmdError) as caught:
        call(script, "ping", Pong)
    assert caught.value.code == "busy" and len(script.requests) == 4


def test_a_change_is_never_sent_twice(script: Script) -> None:
    """Guards against adding a memory twice: the person is told to look."""
    script.replies = [None]
    with pytest.raises(HmdError) as caught:
        call(script, "memory.add", Outcome)
    assert caught.value.code == "busy" and "look" in caught.value.do
    assert len(script.requests) == 1


def test_a_change_that_was_not_begun_is_sent_again(script: Script) -> None:
    """Guards `retry`: a daemon without room has done nothing."""
    script.replies = [frame.answer(frame.RETRY), frame.answer(frame.OK, b'{"seq":3}')]
    assert call(script, "memory.add", Outcome).seq == 3


def test_what_is_no_answer_of_ours_is_said(script: Script) -> None:
    script.replies = [b"HTTP/1.1 400 Bad Request\r\n\r\n"]
    with pytest.raises(HmdError) as caught:
        call(script, "ping", Pong)
    assert caught.value.code == "internal"


def test_a_silent_daemon_is_not_waited_for_longer_than_said() -> None:
    """Guards `hmctl` against a stopped process: `busy`, and probe says unreachable."""
    with short_directory() as directory:
        home = Home(str(directory / "home"))
        os.makedirs(home.run)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(home.socket)
            listener.listen()
            assert link.probe(home, timeout=0.05) == link.UNREACHABLE
        assert link.probe(home) == link.ABSENT


def test_nobody_there_and_nobody_to_be_started() -> None:
    """Guards `start_daemon=False` and a home whose daemon a service manager runs."""
    with short_directory() as directory:
        home = Home(str(directory / "home"))
        os.mkdir(home.path, 0o700)
        with pytest.raises(HmdError) as caught:
            link.call(home, "ping", {}, Pong, start_daemon=False)
        assert caught.value.code == "busy" and "no daemon" in caught.value.what
        with open(home.service, "w"):
            pass
        with pytest.raises(HmdError) as caught:
            link.call(home, "ping", {}, Pong)
        assert caught.value.where == home.service
        assert not os.path.exists(home.run)


@pytest.mark.live
def test_a_daemon_is_started_where_there_is_none_and_outlives_us() -> None:
    """Guards the first command ever typed: it starts a daemon, waits for it and is answered."""
    with short_directory() as directory:
        instance = Instance(directory)
        try:
            found = instance.call("ping", start_daemon=True)
            again = instance.call("ping", start_daemon=True)
            assert found["pid"] == again["pid"] != os.getpid()
            assert link.probe(instance.home) == link.READY
            assert instance.call("stop") == {"pid": found["pid"]}
            assert link.probe(instance.home) == link.ABSENT
            assert instance.call("ping", start_daemon=True)["pid"] != found["pid"]
        finally:
            instance.close()


@pytest.mark.live
def test_a_refused_home_is_explained() -> None:
    """Guards the way of an error from the daemon's first steps to the person who typed."""
    with short_directory() as directory:
        instance = Instance(directory)
        os.mkdir(instance.home.path)
        os.chmod(instance.home.path, 0o755)
        with pytest.raises(HmdError, match="chmod 700") as caught:
            instance.call("ping", start_daemon=True)
        assert caught.value.code == "refused"
        instance.close()


@pytest.mark.live
def test_an_older_daemon_hands_over_and_the_call_is_done() -> None:
    """Guards upgrades: the first `hmctl` of a newer version replaces the daemon and is answered."""
    with short_directory() as directory:
        instance = Instance(directory)
        try:
            old = instance.start(version="0.0.1")
            found = instance.call("ping", start_daemon=True)
            assert found["pid"] != old.pid and found["version"] == __version__
            assert old.wait(20) == 0
        finally:
            instance.close()


@pytest.mark.live
def test_an_older_client_leaves_a_newer_daemon_where_it_is() -> None:
    """Guards downgrades: two versions installed side by side do not chase each other out."""
    with short_directory() as directory:
        instance = Instance(directory)
        try:
            newer = instance.start(version="999.0.0")
            assert instance.call("ping", start_daemon=True)["pid"] == newer.pid
        finally:
            instance.close()


def test_daemons_are_not_started_without_end(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against a loop of starts where what is started is always older than the client."""
    started: list[Home] = []
    monkeypatch.setattr(link, "start", lambda home, environ: started.append(home))
    script.replies = [frame.answer(frame.LEAVE)] * 3
    with pytest.raises(HmdError, match="another version"):
        link.call(script.home, "ping", {}, Pong, environ={})
    assert len(started) == link.MOST_STARTS
