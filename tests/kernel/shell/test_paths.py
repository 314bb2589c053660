"""Guards path tokens: what a call touches, and what only looks like a path."""

import pytest

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.paths import join, path_tokens


def paths(text: str, dialect: str = "posix") -> list[str]:
    return path_tokens(canonical(text, dialect, ".", "/repo", "/home/u"))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("cat src/a.py README.md", ["src/a.py", "README.md"]),
        ("cat ./a/../b.txt", ["b.txt"]),
        ("cat /repo/src/a.py /etc/hosts", ["src/a.py", "/etc/hosts"]),
        ("cat ~/x.txt $HOME/y.txt", ["/home/u/x.txt", "/home/u/y.txt"]),
        ("cat $PWD/x.txt", ["x.txt"]),
        ("cat .env", [".env"]),
        ("cd src && cat a.py", ["src", "src/a.py"]),
        ("cd $X && cat a.py /repo/b.py", ["b.py"]),
        ("git -C sub add x.py", ["sub", "sub/x.py"]),
        ("make -C sub all", ["sub"]),
        ("tool --config=conf/x.toml --level=3", ["conf/x.toml"]),
        ("make OUT=build/x", ["build/x"]),
        ("x > out/log.txt 2> err.txt < in.txt", ["out/log.txt", "err.txt", "in.txt"]),
        ("x 2>&1", []),
        ("cat <<E\nsrc/a.py\nE", []),
        ("pytest tests/a.py::test_b", ["tests/a.py"]),
        ("vim src/a.py:12:3", ["src/a.py"]),
        ("cat src/{a,b}.py", ["src/a.py", "src/b.py"]),
        ("rm -rf src/*.pyc", ["src/*.pyc"]),
        ("grep -rn a/b src/", ["src"]),
        ("grep -e a/b src/x.py", ["src/x.py"]),
        ("sed -i s/a/b/ src/x.py", ["src/x.py"]),
        ("awk '/a\\/b/' x.log", ["x.log"]),
        ("curl https://h/x.sh -o x.sh", ["x.sh"]),
        ("git clone git@h.com:o/r.git", []),
        ("scp host:/x/y z/w", ["z/w"]),
        ("npm i @scope/pkg left@1.2.3 ./local", ["local"]),
        ("docker run -v ./x:/y ghcr.io/a/b:tag", ["x:/y"]),
        ("docker build -t a/b:1 -f docker/Dockerfile .", ["docker/Dockerfile"]),
        ("git checkout origin/main", []),
        ("git checkout main -- src/a.py", ["src/a.py"]),
        ("git diff main..feature/x", []),
        ("git checkout src/a.py", ["src/a.py"]),
        ("git commit -m 'fix src/a.py'", []),
        ("python -c 'open(\"a/b.txt\")'", []),
        ("echo src/a.py", []),
        ("pip install x==1.2.3 node:18", []),
        ("ping example.com 10.0.0.1", []),
        ("git add .", []),
        ("cat '$(x)/y'", []),
        ("cat $(x)/y.txt $X/z.txt", []),
    ],
)
def test_paths_of_a_call(text: str, expected: list[str]) -> None:
    assert paths(text) == expected


def test_a_git_operand_that_may_be_a_ref_counts_when_the_file_is_known() -> None:
    form = canonical("git checkout feature/x")
    assert path_tokens(form) == []
    assert path_tokens(form, lambda path: path == "feature/x") == ["feature/x"]


@pytest.mark.parametrize(
    "cwd, target, root, expected",
    [
        (".", "a", "", "a"),
        ("a", "..", "", "."),
        ("a", "../..", "", ".."),
        ("a", "../../x", "/r/repo", "/r/x"),
        ("?", "a", "/r", "?"),
        ("?", "/r/a", "/r", "a"),
        ("@w", "a", "/r", "?"),
        (".", "C:\\r\\a", "C:\\r", "a"),
        (".", "c:/r/a", "C:/r", "a"),
        (".", "/c/r/a", "C:/r", "a"),
        (".", "/mnt/c/r/a", "/mnt/c/r", "a"),
        (".", "a\\b", "C:/r", "a/b"),
        (".", "/c/r/a", "/r", "/c/r/a"),
        (".", "-", "/r", "?"),
        (".", "", "/r", "?"),
        (".", "%CD%\\a", "C:/r", "a"),
    ],
)
def test_joining_directories(cwd: str, target: str, root: str, expected: str) -> None:
    assert join(cwd, target, root) == expected


def test_windows_paths() -> None:
    form = canonical("Get-Content .\\src\\a.cs", "powershell", ".", "C:\\repo", "C:\\Users\\u")
    assert path_tokens(form) == ["src/a.cs"]
