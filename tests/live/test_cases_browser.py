"""O-16, as far as there is something to reach: a page that a user visits, and the daemon's socket.

Nothing of hmd listens on a port (tests/live/test_confined.py), so a page has to be helped by
something that forwards HTTP to Unix sockets. Even then it learns nothing and changes nothing.
"""

import json
import socket

import pytest

from hmd.kernel import frame
from tests.live.host import Host, Session
from tests.live.instance import PATIENCE_S

pytestmark = pytest.mark.live

SECRET = "the build box is called pelikan"


def exchange(host: Host, data: bytes) -> bytes:
    """What the daemon sends to a client that sends `data`, until it hangs up."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.settimeout(PATIENCE_S)
        stream.connect(host.home.socket)
        stream.sendall(data)
        answer = b""
        try:
            while piece := stream.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass  # it hung up before it had read everything
    return answer


@pytest.fixture
def telling(host: Host) -> tuple[Host, Session]:
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:npm test", "deny", SECRET)
    host.start()
    return host, Session(host, project)


def a_call(session: Session, method: str, body: object) -> bytes:
    header = {"proto": str(frame.PROTOCOL), "method": method, "cwd": str(session.project)}
    return frame.request(frame.CALL, header, json.dumps(body).encode())


REQUESTS = {
    "a rebound name": b"GET / HTTP/1.1\r\nHost: attacker.example\r\n\r\n",
    "no origin": b"GET /memory.list HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "another site's": b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://a.example\r\n\r\n",
    "a preflight": b"OPTIONS / HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Method: POST\r\n\r\n",
    "a web socket": b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


METHODS = {"memory.list": {}, "memory.add": {"summary": "planted", "active": True}, "stop": {}}


def test_http_is_not_answered(telling: tuple[Host, Session]) -> None:
    """Guards against a page that speaks HTTP to the socket, also one whose body is a whole frame of
    ours: the daemon hangs up at the first line and reads no further."""
    host, session = telling
    pid = host.instance.serving_pid()
    assert SECRET.encode() in exchange(host, a_call(session, "memory.list", {}))
    post = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\r\n"
    for before in (*REQUESTS.values(), post, b"\r\n", b"\n"):
        for method, body in METHODS.items():
            for data in (before, before + a_call(session, method, body)):
                answer = exchange(host, data)
                assert SECRET.encode() not in answer and not answer.startswith(b"HTTP/")
                assert b"Access-Control" not in answer and b"Set-Cookie" not in answer
                found = frame.parse_answer(answer)
                assert found is None or found[0] == frame.ERROR, (data, answer)
    assert host.instance.serving_pid() == pid
    listed = host.hmctl("memory", "list", cwd=session.project).stdout
    assert SECRET in listed and "planted" not in listed
    assert session.pre("npm test").decision == "deny"
