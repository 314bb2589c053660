"""What a client must know of each `call` method before it sends one.

`deadline_ms` bounds the daemon's answer (the client waits a little longer). A method that is
`retry_safe` may be sent again when the connection broke before an answer came: it changes nothing,
or the same thing twice is the same as once. `mutates` makes a call wait for the store.
"""


class Method:
    """The contract of one method; its function is in `hmd.daemon.handlers`."""

    __slots__ = ("deadline_ms", "mutates", "name", "retry_safe")

    def __init__(self, name: str, *, mutates: bool, deadline_ms: int, retry_safe: bool) -> None:
        self.name = name
        self.mutates = mutates
        self.deadline_ms = deadline_ms
        self.retry_safe = retry_safe


def _read(name: str, deadline_ms: int = 5_000) -> Method:
    return Method(name, mutates=False, deadline_ms=deadline_ms, retry_safe=True)


def _change(name: str, deadline_ms: int = 10_000, *, retry_safe: bool = False) -> Method:
    return Method(name, mutates=True, deadline_ms=deadline_ms, retry_safe=retry_safe)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _read("ping", 1_000),
        _read("status", 2_000),
        # It ends the daemon, but waits for no store; sent twice it ends the same daemon.
        Method("stop", mutates=False, deadline_ms=2_000, retry_safe=False),
    )
}
