"""Which build this is, and whether another one is newer."""

from hmd import __version__

BUILD = __version__


def order(build: str) -> tuple[int, ...]:
    """The numbers a build's name begins with, for comparing; () where there are none."""
    numbers = []
    for part in build.partition("-")[0].partition("+")[0].split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def is_newer(build: str, than: str = BUILD) -> bool:
    """Whether `build` supersedes `than`: builds of one version are never newer than each other."""
    return order(build) > order(than)
