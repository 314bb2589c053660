"""Which build a process is, and whether another one supersedes it.

A build is named `<version>-<digest of its files>` (hmd/setup/copies.py); a client that runs from
the package itself names its version only.
"""


def order(build: str) -> tuple[int, ...]:
    """The numbers a build's name begins with, for comparing; () where there are none."""
    numbers = []
    for part in build.partition("-")[0].partition("+")[0].split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


def digest(build: str) -> str:
    """The part of a build's name that tells its files, "" where there is none."""
    return build.partition("-")[2]


def supersedes(build: str, ours: str, installed: str) -> bool:
    """Whether a process of `build` is right to ask one of `ours` to leave.

    A higher version is. Among builds of one version no order can be told from the names: there the
    one that hooks were `installed` with is right.
    """
    if build == ours:
        return False
    theirs, mine = order(build), order(ours)
    return theirs > mine or (theirs == mine and bool(digest(build)) and build == installed)
