"""The one error that crosses layers on the daemon side, and the exit codes it becomes."""

from typing import Literal, get_args

Code = Literal["usage", "not_found", "refused", "busy", "newer", "damaged", "internal"]
CODES: frozenset[str] = frozenset(get_args(Code))

EXIT_OK, EXIT_ERROR, EXIT_USAGE, EXIT_BUSY = 0, 1, 2, 75
_EXITS = {"usage": EXIT_USAGE, "busy": EXIT_BUSY}


class HmdError(Exception):
    """Something that the person at the other end should read.

    `code` is one of `CODES`; `what` says what failed, lower case, no full stop, the subject in
    quotes; `where` names the file, option or key, or is ""; `do` says what helps, or is "".
    """

    def __init__(self, code: Code, what: str, where: str = "", do: str = "") -> None:
        super().__init__(what)
        self.code: Code = code
        self.what = what
        self.where = where
        self.do = do

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        advice = f"; {self.do}" if self.do else ""
        return self.what + place + advice

    @property
    def exit_code(self) -> int:
        return _EXITS.get(self.code, EXIT_ERROR)
