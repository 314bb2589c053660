"""All modules of a copy in one file: a stub that decides alone loads some fifty, and looking each
one up in the file system takes longer than running it.

The file is written when the copy is made, for one interpreter; where it is missing, foreign or
damaged, modules are imported from their own files as ever.
"""

import marshal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any

NAME = "bundle"


class Bundle:
    """Finds and loads modules out of `codes`: name → (whether it is a package, marshalled code)."""

    __slots__ = ("_codes", "_root")

    def __init__(self, root: str, codes: "dict[str, tuple[bool, bytes]]") -> None:
        self._root = root
        self._codes = codes

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Any":
        found = self._codes.get(name)
        if found is None:
            return None
        from _frozen_importlib import ModuleSpec  # built in

        spec = ModuleSpec(name, self, is_package=found[0])  # type: ignore[arg-type]
        if found[0]:
            spec.submodule_search_locations = [self._root + "/" + name.replace(".", "/")]
        return spec

    def create_module(self, spec: object) -> None:
        """None: the interpreter makes the module."""

    def exec_module(self, module: "ModuleType") -> None:
        exec(marshal.loads(self._codes[module.__name__][1]), module.__dict__)  # noqa: S102


def use(root: str, key: str) -> bool:
    """Has modules loaded from the bundle of the copy at `root` if it was made for `key`."""
    try:
        with open(root + "/" + NAME, "rb") as file:
            head, codes = marshal.loads(file.read())
        if head != key:
            return False
        sys.meta_path.insert(0, Bundle(root, codes))
    except Exception:
        return False
    return True


def pack(root: str, key: str) -> int:
    """Writes the bundle of the copy at `root`; returns how many modules it holds."""
    import os  # late: only the one who makes a copy packs

    codes: dict[str, tuple[bool, bytes]] = {}
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            if not name.endswith(".py"):
                continue
            path = os.path.join(folder, name)
            module = os.path.relpath(path, root)[:-3].replace(os.sep, ".")
            package = module.endswith(".__init__")
            with open(path, "rb") as file:
                source = file.read()
            # The copy moves to its place after this: only names below it last.
            place = os.path.relpath(path, root)
            code: CodeType = compile(source, place, "exec", dont_inherit=True, optimize=2)
            codes[module.removesuffix(".__init__")] = (package, marshal.dumps(code))
    with open(os.path.join(root, NAME), "wb") as target:
        target.write(marshal.dumps((key, codes)))
    return len(codes)
