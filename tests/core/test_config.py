"""config.toml: every default, and that no file can break anything."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmd.core.config import Config, Settings, load, parse, verdict_settings
from hmd.kernel import rules


def test_defaults() -> None:
    """Guards the defaults that the guide names; a change of one is a change of behaviour."""
    found = msgspec.to_builtins(Settings())
    assert found["autonomy_level"] == "standard"
    assert found["before_tool"] == {
        "max_items": 3,
        "max_bytes": 2048,
        "max_holds_per_session": 5,
        "auto_enforcement": "by_evidence",
        "auto_escalation": {"enabled": True, "sessions": 2},
        "hard_policy": "confirm",
    }
    assert found["before_model"]["dense_timeout_ms"] == 80
    assert found["before_model"]["recall"] == {"max_items": 2, "max_bytes": 1024, "min_score": 0.5}
    assert found["recall"] == {"enabled": False, "keep_episodes": 300}
    assert (found["session_start"]["max_bytes"], found["after_tool"]["max_bytes"]) == (3072, 1024)
    assert found["extraction"]["max_runs_per_day"] == 40
    assert found["extraction"]["hard_max_runs_per_day"] == 80
    assert found["retention"] == {
        "ledger_days": 14,
        "raw_hours": 24,
        "audit_days": 30,
        "candidate_days": 45,
        "proposal_days": 30,
    }
    assert found["log"] == {"debug": False, "max_bytes": 5 * 1024 * 1024, "rotations": 3}
    assert found["embeddings"]["enabled"] is False


def test_kernel_has_the_same_defaults() -> None:
    """Guards that a lost snapshot setting decides as the configuration's default would."""
    assert verdict_settings(Config(), "") == rules.DEFAULTS


def test_absent_and_broken_files(tmp_path: Path) -> None:
    """Guards a hook against the user's editor: defaults, and a problem that names the file."""
    config, problems = load(tmp_path / "config.toml")
    assert (config.user, problems) == (Settings(), [])
    for data in (b"[before_tool", b"\xff\xfe", b"a = 1\na = 2\n"):
        (tmp_path / "config.toml").write_bytes(data)
        config, problems = load(tmp_path / "config.toml")
        assert config.user == Settings()
        assert [each.where for each in problems] == [str(tmp_path / "config.toml")]
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbfautonomy_level = 'off'\r\n")
    config, problems = load(tmp_path / "config.toml")
    assert (config.user.autonomy_level, problems) == ("off", [])


def test_one_bad_key_costs_one_key() -> None:
    """Guards that a typo neither disables its neighbours nor passes unnoticed."""
    config, problems = parse(
        {
            "autonomy_level": "standart",
            "befor_tool": {"max_items": 1},
            "before_tool": {
                "max_items": -1,
                "max_bytes": 99,
                "auto_escalation": {"sessions": 0, "enabled": False},
            },
            "before_model": {"min_score": 1},
            "extraction": "on",
        }
    )
    assert config.user.autonomy_level == "standard"
    assert config.user.before_tool.max_items == 3
    assert config.user.before_tool.max_bytes == 99
    assert config.user.before_tool.auto_escalation.enabled is False
    assert config.user.before_tool.auto_escalation.sessions == 2
    assert config.user.before_model.min_score == 1.0
    assert {each.where: each.used for each in problems} == {
        "autonomy_level": "'standard'",
        "befor_tool": "nothing of it",
        "before_tool.max_items": "3",
        "before_tool.auto_escalation.sessions": "2",
        "extraction": "its defaults",
    }


def test_project_tables() -> None:
    """Guards that a project's table changes it and what lies below it, the nearest last."""
    config, problems = parse(
        {
            "before_tool": {"max_items": 7},
            "project": {
                "/work/app": {"before_tool": {"max_bytes": 100}, "after_tool": {"max_items": "x"}},
                "/work/app/inner": {"before_tool": {"max_bytes": 200}},
                "relative": {},
                "/list": [],
            },
        }
    )
    assert [each.where for each in problems] == [
        'project."/work/app".after_tool.max_items',
        'project."relative"',
        'project."/list"',
    ]
    sizes = {
        place: config.at(place).before_tool.max_bytes
        for place in ("", "/work", "/work/app/.git", "/work/app/inner", "/work/application")
    }
    assert sizes == {
        "": 2048,
        "/work": 2048,
        "/work/app/.git": 100,
        "/work/app/inner": 200,
        "/work/application": 2048,
    }
    assert config.at("/work/app").before_tool.max_items == 7
    assert verdict_settings(config, "/work/app/.git")["before_tool"]["max_bytes"] == 100
    assert config.project_paths == ["/work/app", "/work/app/inner"]


KEYS = ["before_tool", "max_items", "recall", "extraction", "project", "/a", "model", "log", "x"]
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=6,
)


@settings(
    derandomize=True, max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=6))
def test_nothing_in_a_file_raises(raw: dict[str, Any]) -> None:
    """Guards "reading never fails" against any table; whatever comes out is valid settings."""
    config, problems = parse(raw)
    for place in ("", "/a", "/a/b"):
        found = config.at(place)
        assert msgspec.convert(msgspec.to_builtins(found), Settings) == found
        assert verdict_settings(config, place)
    assert all(each.where and each.what and each.used for each in problems)


@pytest.mark.parametrize("place", ["/", "relative/path", "/a/../b", "\x00"])
def test_any_place_has_settings(place: str) -> None:
    """Guards lookups with paths that no table could be for."""
    assert Config().at(place) == Settings()
