"""Text in any script under any locale, and rules that cannot be read (O-17)."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.live.host import Host, Session

pytestmark = pytest.mark.live

SAID = "🛑 é — 절대 푸시하지 마세요"
LOCALES = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LANG": "ko_KR.CP949", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp949"},
    {"LC_ALL": "zh_TW.Big5", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp950:strict"},
    {"LC_CTYPE": "en_US.CP1252", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"},
]


def localised(host: Host, project: Path, locale: dict[str, str]) -> Session:
    host.env |= locale
    return Session(host, project, "loc", **locale)


@pytest.mark.parametrize("locale", LOCALES, ids=["C", "cp949", "cp950", "cp1252"])
def test_an_emoji_under_a_locale_that_is_not_utf8(host: Host, locale: dict[str, str]) -> None:
    """Guards O-17: rule typed in, daemon, stub and listing under such a locale; held with the text
    intact, up and down; `hmctl` prints what it can and does not stumble over the rest."""
    host.env |= locale
    project = host.repository("prójekt-🛑")
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny", SAID)
    host.start()
    session = Session(host, project, "loc", **locale)
    up = session.pre("git push")
    host.stop()
    down = session.pre("git push")
    assert up.out == down.out
    assert up.decision == "deny" and SAID in up.reason
    host.release()
    host.hmctl("why", "git push", cwd=project)
    host.hmctl("memory", "list", cwd=project)
    assert SAID in host.hmctl("memory", "list", cwd=project, PYTHONIOENCODING="utf-8").stdout


def test_a_correction_in_korean_under_the_c_locale(host: Host) -> None:
    """A neighbour: the guard reads words that the locale cannot."""
    project = host.repository()
    host.install(project)
    session = localised(host, project, LOCALES[0])
    session.failed("yarn build")
    session.prompt("yarn build 말고 pnpm build 써줘")
    session.prompt("다시 🛑")
    assert "yarn build 말고 pnpm build 써줘" in session.pre("yarn build").reason


def test_a_path_that_is_no_utf8(host: Host) -> None:
    """A neighbour: a repository whose name is bytes of another encoding. Nothing of it could be
    shown or stored; `hmctl` says so in a line, and hooks there are silent, not broken."""
    place = os.fsencode(host.directory) + b"/caf\xe9"
    os.mkdir(place)
    project = Path(os.fsdecode(place))
    host.git("init", "-q", cwd=project)
    host.install(host.repository())
    done = host.hmctl("project", "enable", cwd=project, code=None)
    assert done.returncode != 0 and "UTF-8" in done.stderr and "Traceback" not in done.stderr
    session = Session(host, project, "latin")
    payload = session.payload("PreToolUse", **session.call(command="git push"))
    for served in (True, False):
        host.start() if served else host.stop()
        assert host.hook("PreToolUse", payload, cwd=project) == (0, b"", b"")


def test_settings_in_any_script(host: Host) -> None:
    """A neighbour: the settings file of the host holds letters beyond ASCII, and keeps them."""
    host.settings.write_text('{"model": "모델-é-🛑"}\n', encoding="utf-8")
    host.env |= LOCALES[0]
    project = host.repository()
    host.install(project)
    assert '"model": "모델-é-🛑"' in host.settings.read_text(encoding="utf-8")
    host.hmctl("uninstall")
    assert host.settings.read_text(encoding="utf-8") == '{"model": "모델-é-🛑"}\n'


def ruled(host: Host) -> tuple[Session, list[Path]]:
    """A session under one rule, and the files that the rule is decided from."""
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny", SAID)
    host.hmctl("snapshot", "rebuild")
    files = [path for path in Path(host.home.snapshots).iterdir() if path.stat().st_size]
    assert files
    return Session(host, project), files


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize("damage", ["header", "table", "cut", "unreadable"])
def test_rules_that_cannot_be_read_are_never_no_rules(
    host: Host, damage: str, served: bool
) -> None:
    """Guards O-17's second half: what is left of a damaged file is still enforced; where nothing
    can be read at all, the user is told which file and what to do, and it can be repaired."""
    session, files = ruled(host)
    host.start() if served else host.stop()
    for path in files:
        data = bytearray(path.read_bytes())
        if damage == "header":
            data[:40] = b"\0" * 40
        elif damage == "table":
            table = json.JSONDecoder().raw_decode(data.decode("latin-1"))[0]["table"]
            data[table:] = b"\xff" * (len(data) - table)
        elif damage == "cut":
            del data[-100:]
        if damage == "unreadable":
            os.chmod(path, 0)
        else:
            path.write_bytes(data)
    payload = session.payload("SessionStart", source="startup")
    start = host.hook("SessionStart", payload, ordinary=True)
    call = session.payload("PreToolUse", **session.call(command="git push"))
    answer = host.hook("PreToolUse", call, ordinary=True)
    can_read = damage != "unreadable" or (served and os.geteuid() == 0)
    if can_read:
        assert answer.decision == "deny" and SAID in answer.reason, answer
    else:
        assert b"snapshot/" in start.out and b"hmctl" in start.out, start
    host.release()
    done = host.hmctl("doctor", cwd=session.project, code=None)
    if damage != "unreadable":
        assert "snapshot" in done.stdout
    host.hmctl("snapshot", "rebuild")
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files if path.exists())
    assert session.pre("git push").decision == "deny"
