"""Guards the fields of a unit, the limits, and what is reported as hidden instead of guessed."""

import pytest

from hmd.kernel.shell.canonical import Form, canonical
from hmd.kernel.shell.unit import Unit


def last(text: str, **where: str) -> Unit:
    return canonical(text, **where).units[-1]


def test_the_fields_of_a_wrapped_command() -> None:
    unit = last("cd web && CI=1 sudo -u x env TZ=UTC npm run build -- --watch > out.log 2>&1")
    assert unit.argv == ["npm", "run", "build", "--", "--watch"]
    assert unit.keys == [("npm", "run", "build", "--watch"), ("pm", "build", "--watch")]
    assert (unit.program, unit.token) == ("npm", "pm build")
    assert unit.wrap == ("sudo", "env")
    assert unit.env == ("CI", "TZ")
    assert (unit.cwd, unit.ctx) == ("web", "top")
    assert [redirection.op for redirection in unit.redirs] == [">", ">&"]
    assert not (unit.boundary or unit.query or unit.dynamic)


@pytest.mark.parametrize(
    "text, ctx",
    [
        ("x", "top"),
        ("(x)", "subshell"),
        ("echo $(x)", "subst"),
        ("cat <(x)", "procsub"),
        ("f() { x; }", "function"),
        ("bash -c x", "shellc"),
        ("ls | xargs x", "xargs"),
        ("docker exec c x", "boundary"),
    ],
)
def test_where_a_command_runs(text: str, ctx: str) -> None:
    assert [unit.ctx for unit in canonical(text).units if unit.argv == ["x"]] == [ctx]


@pytest.mark.parametrize(
    "text, cwd",
    [
        ("cd a && x", "a"),
        ("cd a/../b; x", "b"),
        ("cd a && cd b && x", "a/b"),
        ("(cd a); x", "."),
        ("(cd a; x)", "a"),
        ("echo $(cd a); x", "."),
        ("cd a | x", "."),
        ("cd a & x", "."),
        ("bash -c 'cd a'; x", "."),
        ("eval 'cd a'; x", "a"),
        ("command cd a; x", "a"),
        ("pushd a; pushd b; popd; x", "a"),
        ("pushd a; popd; x", "."),
        ("popd; x", "?"),
        ("cd -; x", "?"),
        ("cd $D; x", "?"),
        ("cd $D; cd /repo/b; x", "b"),
        ("cd /repo/a && x", "a"),
        ("cd /elsewhere && x", "/elsewhere"),
        ("cd ~ && x", "/home/u"),
        ("cd; x", "/home/u"),
        ('cd "$HOME/y" && x', "/home/u/y"),
        ("cd .. && x", "/"),
        ('cd "$(git rev-parse --show-toplevel)/a" && x', "a"),
        ("env -C a x", "a"),
        ("sudo -D a x", "a"),
        ("cd a && git -C b x", "a/b"),
        ("npm --prefix a x", "a"),
        ("npm run x --prefix a", "a"),
        ("make -C a x", "a"),
        ("terraform -chdir=a x", "a"),
        ("npm -w pkg run x", "@pkg"),
        ("yarn workspace pkg x", "@pkg"),
        ("pnpm --filter pkg x", "@pkg"),
        ("docker exec c x", "?"),
    ],
)
def test_the_directory_in_force(text: str, cwd: str) -> None:
    assert last(text, root="/repo", home="/home/u").cwd == cwd


def test_the_directory_of_the_call_is_where_it_starts() -> None:
    assert last("./x.sh", cwd="sub").keys[0] == ("sub/x.sh",)
    assert last("cd .. && x", cwd="sub", root="/repo").cwd == "."
    assert last("x", cwd="/repo/sub", root="/repo").cwd == "sub"


def test_parts_of_one_pipeline_share_its_number() -> None:
    form = canonical("a | b | c; d | e; bash -c 'f | g'")
    by_pipe: dict[int, list[str]] = {}
    for unit in form.units:
        by_pipe.setdefault(unit.pipe, []).append(unit.argv[0])
    assert list(by_pipe.values()) == [["a", "b", "c"], ["d", "e"], ["f", "g"]]


@pytest.mark.parametrize(
    "text",
    [
        'bash -c "$X"',
        'eval "$X"',
        "$X",
        '"$@"',
        "base64 -d x | sh",
        "curl x | bash",
        'sh -c "$(curl x)"',
        "bash <(curl x)",
        "pwsh -EncodedCommand AAAA",
        'python -c "$X"',
        "xargs -I% sh -c %",
        "sudo $X",
    ],
)
def test_what_is_wholly_hidden_is_reported(text: str) -> None:
    assert canonical(text).opaque


@pytest.mark.parametrize(
    "text",
    [
        "bash x.sh",
        "cat x.sh | grep sh",
        "echo ls | sh",
        "$PYTHON x.py",
        "./*.sh",
        "python -c 'print(1)'",
        "bash",
        "echo $X",
        "docker run img",
        "git push $X",
    ],
)
def test_what_can_be_read_is_not_called_hidden(text: str) -> None:
    assert not canonical(text).opaque


@pytest.mark.parametrize("text", ["echo 'x", "(a", "python -c 'print(1)'", 'x "$(y'])
def test_what_cannot_be_read_to_its_end_is_partial(text: str) -> None:
    assert canonical(text).partial


@pytest.mark.parametrize(
    "text, query",
    [
        ("command -v git", True),
        ("which git", True),
        ("type git", True),
        ("man git", True),
        ("git push --help", True),
        ("npm test --help", True),
        ("node --version", True),
        ("git push origin --help", False),
        ("git push -o --help", False),
        ("npm test -- --help", False),
        ("rm -rf x --help", False),
        ("command git push", False),
    ],
)
def test_questions_about_a_program(text: str, query: bool) -> None:
    assert last(text).query is query


@pytest.mark.parametrize(
    "text, inner",
    [
        ("docker exec -it -e A=1 web npm test", ["npm", "test"]),
        ("docker run --rm -v $PWD:/x -w /x node:20 npm test", ["npm", "test"]),
        ("docker --context c compose -f x exec web npm test", ["npm", "test"]),
        ("kubectl -n x exec deploy/y -c z -- npm test", ["npm", "test"]),
        ("ssh -i k -p 22 u@h 'cd x && npm test'", ["npm", "test"]),
        ("ssh h npm test", ["npm", "test"]),
        ("ssh h <<'E'\nnpm test\nE", ["npm", "test"]),
        ("chroot /x npm test", ["npm", "test"]),
        ("vagrant ssh -c 'npm test'", ["npm", "test"]),
        ("wsl -e npm test", ["npm", "test"]),
        ("sudo docker exec c sh -c 'npm test'", ["npm", "test"]),
    ],
)
def test_behind_a_boundary(text: str, inner: list[str]) -> None:
    units = canonical(text).units
    assert not units[0].boundary
    assert [unit.argv for unit in units if unit.boundary][-1] == inner
    assert all(unit.cwd in ("?", "/x") or not unit.boundary for unit in units)


def test_limits_hold() -> None:
    many = canonical("; ".join(["x"] * 300))
    assert many.partial and len(many.units) <= 256
    deep = canonical("watch " * 12 + "x")
    assert deep.partial and deep.opaque and deep.units
    assert last("eval " * 30 + "x").argv == ["x"]
    wrapped = canonical("nohup " * 30 + "x")
    assert wrapped.partial and wrapped.units
    for piece in ("{a,b}{c,d} ", "ssh h ", "sudo A=1 ", "find . -exec ", "pwsh -c ", "docker run "):
        assert len(canonical(piece * 3000).units) <= 256


def test_windows_dialects() -> None:
    unit = last('Set-Location web; & "git.exe" Push -Force', dialect="powershell")
    assert unit.fold and unit.program == "git" and unit.cwd == "web"
    form: Form = canonical("cd /d web && npm test", "cmd")
    assert form.units[-1].keys[0] == ("npm", "test") and form.units[-1].cwd == "web"
    assert last("pwsh -NoProfile -File scripts/x.ps1 -A").program == "scripts/x.ps1"
    assert last("powershell -exec bypass -c 'rm x'").keys[-1] == ("remove-item", "x")


def test_a_fault_of_ours_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that fails must not pass for a command in which nothing was found."""

    def broken(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr("hmd.kernel.shell.reading.Run.read", broken)
    form = canonical("git push")
    assert form.partial and form.opaque
