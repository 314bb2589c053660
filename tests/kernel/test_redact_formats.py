"""Guards: each published credential format is masked wherever it stands, and its look-alikes stay.

Shapes are from the issuers' documentation, bodies are made up at run time.
"""

import pytest

from hmd.kernel.redact import MARK, redact
from tests.kernel.secrets_of_ours import ALNUM, DASHED, HEX, LOWER, UPPER, body, web_token

SHAPES = [
    ("anthropic", "sk-ant-" + "api03-" + body(93, DASHED) + "AA"),
    ("openai project", "sk-" + "proj-" + body(74, DASHED)),
    ("openai", "sk-" + body(48)),
    ("groq", "gsk" + "_" + body(52)),
    ("hugging face", "hf" + "_" + "qwErtYuioPasDfgHjklZxcVbnmQweRtYui"),
    ("hugging face, lower case", "hf" + "_" + "qwertpasdfghjklzxcvbnmqwrtpsdfghjk"),
    ("perplexity", "pplx-" + body(48)),
    ("github classic", "ghp" + "_" + body(36)),
    ("github app", "ghs" + "_" + body(36)),
    ("github fine-grained", "github_" + "pat_" + body(22) + "_" + body(59)),
    ("gitlab", "glpat-" + body(20, DASHED)),
    ("gitlab routable", "glpat-" + body(27, DASHED) + "." + body(9, LOWER)),
    ("npm", "npm" + "_" + body(36)),
    ("pypi", "pypi-" + "AgEIcHlwaS5vcmc" + body(60, DASHED)),
    ("rubygems", "rubygems_" + body(48, HEX)),
    ("docker", "dckr_" + "pat_" + body(27, DASHED)),
    ("aws key id", "AKIA" + body(16, UPPER)),
    ("aws temporary key id", "ASIA" + body(16, UPPER)),
    ("google api", "AIza" + body(35, DASHED)),
    ("google oauth", "ya29." + body(60, DASHED)),
    ("google client", "GOCSPX-" + body(28, DASHED)),
    ("digital ocean", "dop_" + "v1_" + body(64, HEX)),
    ("vault", "hvs." + body(96, DASHED)),
    ("vault, old", "s." + body(24)),
    ("terraform", body(14) + ".atlas" + "v1." + body(64)),
    ("entra client secret", "aB" + "c8Q~" + body(34, ALNUM)),
    ("databricks", "dapi" + body(32, HEX)),
    ("age", "AGE-SECRET-" + "KEY-1" + body(58, UPPER)),
    ("stripe", "sk" + "_live_" + body(24)),
    ("stripe restricted", "rk" + "_test_" + body(24)),
    ("square", "sq0atp-" + body(22, DASHED)),
    ("shopify", "shpat" + "_" + body(32, HEX)),
    ("slack bot", "xoxb-" + "104729128-1047291283-" + body(24)),
    ("slack app", "xapp-" + "1-A02-10472-" + body(32, HEX)),
    ("sendgrid", "SG." + body(22, DASHED) + "." + body(43, DASHED)),
    ("mailchimp", body(32, HEX) + "-us" + "12"),
    ("twilio", "SK" + body(32, HEX)),
    ("telegram", "104729128" + ":AA" + body(33, DASHED)),
    ("discord", "M" + body(23) + "." + body(6) + "." + body(38)),
    ("grafana", "glsa" + "_" + body(32) + "_" + body(8, HEX)),
    ("new relic", "NRAK-" + body(27, UPPER)),
    ("linear", "lin_" + "api_" + body(40)),
    ("notion", "ntn" + "_" + body(46)),
    ("postman", "PMAK-" + body(24, HEX) + "-" + body(34, HEX)),
    ("figma", "figd" + "_" + body(40, DASHED)),
    ("airtable", "pat" + body(14) + "." + body(64, HEX)),
    ("tailscale", "tskey-" + "auth-" + body(12) + "CNTRL-" + body(32)),
    ("supabase", "sbp" + "_" + body(40, HEX)),
    ("planetscale", "pscale" + "_tkn_" + body(43, DASHED)),
    ("facebook app", "104729128104729" + "|" + body(27, DASHED)),
    ("web token", web_token()),
]
PLACES = [
    "{}",
    "export X={}",
    'x = "{}"',
    "seen {} in the log",
    "a\n{}\nb",
    '{{"v": "{}"}}',
    "({})",
]


@pytest.mark.parametrize("token", [token for _, token in SHAPES], ids=[name for name, _ in SHAPES])
def test_every_format_is_masked_wherever_it_stands(token: str) -> None:
    for place in PLACES:
        out = redact(place.format(token))
        assert token not in out and MARK in out, place
        assert token[len(token) // 2 :] not in out, "half of it survived"


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "x" * 36,
        "sk-" + "your-api-key-goes-here-please",
        "pip install sk-learn-contrib-lightning",
        "xoxo-greetings-from-the-team",
        "hf_dataset_loader_with_options_and_more",
        "token types: ghp_, gho_, glpat-, sk-ant-",
        "AKIAIOSFODNN7" + "EXAMPLE",
        "AKIA" + "X" * 16,
        "eyes.only.for.reading.this",
        "npm_config_registry_and_other_long_names",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUd",
        "/usr/lib/python3.11/site-packages/numpy/core/_multiarray_umath.cpython-311.so",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_look_alikes_and_placeholders_stay(text: str) -> None:
    assert redact(text) == text


def test_a_token_glued_to_an_escape_is_still_seen() -> None:
    token = "ghp" + "_" + body(36)
    for text in (f'"a\\n{token}"', f"q%3D{token}", f"\\t{token}"):
        assert token not in redact(text), text
