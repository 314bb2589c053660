"""The transport of this platform: listening, a manager's socket, and whether anybody listens."""

import sys

from hmd.transport.base import Listener

if sys.platform == "win32":
    from hmd.transport.pipe_system import listen, poke

    def adopt(descriptor: int, address: str) -> Listener:
        """No service manager hands a pipe over."""
        raise OSError(f"descriptor {descriptor} cannot be served here")

else:
    from hmd.transport.unix import adopt, listen, poke

__all__ = ["adopt", "listen", "poke"]
