"""`install.json` under the home: what install wrote and found, so that uninstall can undo it."""

from __future__ import annotations

import msgspec

from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.setup.files import read_text, write_through

FORMAT = 1


class Registered(msgspec.Struct, omit_defaults=True):
    """Hook entries in one settings file.

    `trace` says what stood in the containers that we filled, `made` which directories we made;
    `exclude` is the line added to the file `exclude_file` ("" for none).
    """

    host: str
    scope: str  # user or project
    file: str
    form: str = "exec"
    made_file: bool = False
    made: list[str] = []
    trace: dict[str, str | None] = {}
    exclude: str = ""
    exclude_file: str = ""
    made_exclude: bool = False


class Receipt(msgspec.Struct):
    """Everything install wrote. Unknown fields are skipped, so that older builds can read it.

    `python` runs the package (`hmctl`, the daemon), `interpreter` the hooks. `path` and
    `programs` are what extraction needs of the environment that install was run in.
    """

    format: int = FORMAT
    build: str = ""
    version: str = ""
    at: str = ""
    python: str = ""
    interpreter: str = ""
    claude_directory: str = ""
    claude_version: str = ""
    path: str = ""
    programs: dict[str, str] = {}
    registered: list[Registered] = []
    made: list[str] = []

    def of(self, file: str) -> Registered | None:
        """The registration in one settings file."""
        return next((one for one in self.registered if one.file == file), None)


def load(home: Home) -> Receipt | None:
    """The receipt; None when there is none. A damaged one raises HmdError, naming the file."""
    try:
        text = read_text(home.receipt)
    except OSError as error:
        raise HmdError(
            "damaged", f"the receipt cannot be read: {error.strerror}", home.receipt
        ) from error
    if text is None:
        return None
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=Receipt)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise HmdError(
            "damaged", "the receipt is damaged", home.receipt, "run hmctl install again"
        ) from error


def load_if_whole(home: Home) -> Receipt:
    """The receipt, or an empty one where it is missing or damaged."""
    try:
        return load(home) or Receipt()
    except HmdError:
        return Receipt()


def save(home: Home, receipt: Receipt) -> None:
    """Writes the receipt in one step; raises OSError."""
    text = msgspec.json.format(msgspec.json.encode(receipt), indent=2).decode() + "\n"
    write_through(home.receipt, text)
