"""The bundle is the copy in one file: it loads the same modules, or gives way to them."""

import subprocess
import sys
from pathlib import Path

import pytest

from client import bundle

ROOT = Path(__file__).parents[2]
_RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from client import bundle
used = bundle.use(sys.argv[1], sys.argv[2])
from shop.till import price
from shop import till
print(used, price(), "__file__" in till.__dict__)
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy with the bundle's own code and a small package in place of the kernel."""
    (tmp_path / "client").mkdir()
    for name in ("__init__.py", "bundle.py"):
        (tmp_path / "client" / name).write_bytes((ROOT / "client" / name).read_bytes())
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("")
    (tmp_path / "shop" / "till.py").write_text(
        "from shop import tax\ndef price():\n    return tax.RATE\n"
    )
    (tmp_path / "shop" / "tax.py").write_text("RATE = 19\n")
    return tmp_path


def run(copy: Path, key: str) -> str:
    argv = [sys.executable, "-I", "-S", "-c", _RUN, str(copy), key]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def test_modules_come_out_of_the_bundle(copy: Path) -> None:
    """Packages, their modules, and imports between them, with the sources gone."""
    assert bundle.pack(str(copy), "this interpreter") == 5
    for path in (copy / "shop").iterdir():
        path.unlink()
    assert run(copy, "this interpreter") == "True 19 False"


@pytest.mark.parametrize("damage", ["absent", "foreign", "cut", "empty"])
def test_without_a_usable_bundle_modules_come_from_their_files(copy: Path, damage: str) -> None:
    """A hook never fails because of its accelerator."""
    bundle.pack(str(copy), "another" if damage == "foreign" else "mine")
    packed = copy / bundle.NAME
    if damage == "absent":
        packed.unlink()
    elif damage in ("cut", "empty"):
        packed.write_bytes(packed.read_bytes()[: 100 if damage == "cut" else 0])
    assert run(copy, "mine") == "False 19 True"
