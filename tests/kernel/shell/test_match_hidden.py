"""Programs that are known only at run time."""

import pytest

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.match import hidden, matches, parse_signature

# (signature, commands whose program is only known when they run)
HIDDEN = [
    ("git push", '"$GIT" -C x push origin'),
    ("git push", "$SUDO git push"),
    ("git push", "bash -c '$G push'"),
    ("git push", "${GIT:-git} push"),
    ("git push", "echo git | xargs -I% % push"),
    ("rm -rf", "$RM -rf x"),
    ("rm -rf", "$(which rm) -fr x"),
    ("rm -rf", "sudo $X rm -rf x"),
    ("rm -rf", "sudo --new-option value rm -rf x"),
    ("rm -rf", "/bin/r? -rf x"),
    ("curl | sh", "curl x | $SHELL"),
]

NOT_HIDDEN = [
    ("git push", "$GIT pull"),
    ("git push", '$X commit -m "git push"'),
    ("git push", "$X echo git push"),
    ("git push", "$CMD"),
    ("git", "$GIT"),
    ("rm -rf", "$RM -r x"),
    ("curl | sh", "curl x | $JQ ."),
    ("rm -rf", "sudo --new-option value grep rm -rf x"),
]


@pytest.mark.parametrize("signature, command", HIDDEN)
def test_a_program_known_only_at_run_time_is_held_as_hidden(signature: str, command: str) -> None:
    parsed, form = parse_signature(signature), canonical(command)
    assert matches(parsed, form) is None
    assert hidden(parsed, form) is not None, form.units


@pytest.mark.parametrize("signature, command", NOT_HIDDEN)
def test_a_dynamic_program_with_other_words_is_not_hidden(signature: str, command: str) -> None:
    assert hidden(parse_signature(signature), canonical(command)) is None
