"""Guards: structure and assignments are masked, references stay, cuts leave no fragment."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.redact import BEYOND, GAP, MARK, clip, is_clean, redact, redact_command
from tests.kernel.secrets_of_ours import ALNUM, DASHED, HEX, body, key_block, password, web_token

SECRET = password()


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD={}",
        'DB_PASSWORD="{}"',
        "export PGPASSWORD={} && psql",
        "$env:DB_PASSWORD = '{}'",
        '{{"password": "{}"}}',
        '{{\\"password\\": \\"{}\\"}}',
        "password: {}",
        "  db_password: '{}'",
        "const apiKey = `{}`;",
        'api_key := "{}"',
        'token: string = "{}"',
        "'client_secret' => '{}',",
        "<password>{}</password>",
        '<add key="ApiToken" value="{}" />',
        "- name: DB_PASSWORD\n  value: {}\n",
        '{{"name": "API_TOKEN", "value": "{}"}}',
        "Server=db;User Id=sa;Password={};Encrypt=true",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={}==;EndpointSuffix=x",
        "https://api.test/v1?page=2&access_token={}&x=1",
        "Authorization: Bearer {}",
        "authorization: Basic {}",
        '-H "X-Api-Key: {}"',
        "Private-Token: {}",
        "Set-Cookie: session_id={}; Path=/; HttpOnly",
        "postgres://app:{}@db.test:5432/x",
        "DATABASE_URL=mysql://root:{}@127.0.0.1/db",
        "https://oauth2:{}@git.test/a/b.git",
        "app:{}@tcp(db:3306)/x",
        "the password is {}",
        "비밀번호: {}",
        "tool --token {} --verbose",
        "tool --api-key={}",
        "Connect -ClientSecret '{}'",
        "//registry.test/:_authToken={}",
        "machine git.test login me password={}",
        "AWS_SECRET_ACCESS_KEY={} aws s3 ls",
        "SECRET_KEY_BASE={}",
        "machine git.test login me password {}",
        "db.test:5432:app:me:{}",
        "CREATE USER me IDENTIFIED BY '{}';",
        'get(url, auth=("me", "{}"))',
        '<setting name="DbPassword"><value>{}</value></setting>',
        "requirepass {}",
        "내 비밀번호는 {} 이야",
    ],
)
def test_a_value_is_masked_in_every_notation(text: str) -> None:
    full = text.format(SECRET)
    out = redact(full)
    assert SECRET not in out and SECRET[4:] not in out
    assert MARK in out
    kept = text.split("{}")[0].rstrip("'\"`\\")
    assert out.startswith(kept.replace("{{", "{")), "the name is not a secret"


@pytest.mark.parametrize(
    "text",
    ["PASSWORD=hunter2", "password: hunter2", "DB_PASS=postgres", "POSTGRES_PASSWORD: letmein"],
)
def test_a_weak_password_is_still_one_where_only_a_value_can_stand(text: str) -> None:
    assert MARK in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "export TOKEN=$GITHUB_TOKEN",
        "TOKEN=${TOKEN:-none}",
        "set TOKEN=%GITHUB_TOKEN%",
        "token: {{ secrets.DEPLOY_TOKEN }}",
        "password: ${{ secrets.DB_PASSWORD }}",
        "API_KEY=<your-api-key>",
        "API_KEY=YOUR_API_KEY",
        "api_key = process.env.OPENAI_API_KEY",
        'key = os.environ["API_KEY"]',
        "password: ********",
        "password = xxxxxxxx",
        "TOKEN=$(gh auth token)",
        "curl -H 'Authorization: Bearer $TOKEN' https://x.test",
        "https://${USER}:${PASS}@db.test/x",
        "https://user:password@host.test",
        "def login(password: str, token: str | None = None) -> None:",
        "token = get_token(request)",
        "const token = response.data.accessToken",
        "max_tokens: 4096, total_tokens=128",
        "next_page_token=CAUQAA12345678",
        "public_key = 04bfcab8722991ae774db48f934ca79c",
        "Bearer token is missing or invalid",
        "Error: secret not found: app-config",
        "tokenizer = AutoTokenizer.from_pretrained('gpt2')",
        "--pass-with-no-tests",
        "docker login --password-stdin ghcr.test",
        "cache-key: node-modules-v2-linux",
        "passed: 12, failed: 3",
        "http://localhost:5173/@vite/client",
        "git@github.com:acme/app.git",
        "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
        "keyboard=us monkey=banana",
        "author: Kim <kim@example.com>",
        "the issues identified by valgrind",
        "password: string",
        "PASSWORD: The password of the user",
        "password reset emails and token expiry",
    ],
)
def test_references_placeholders_and_prose_stay(text: str) -> None:
    assert redact(text) == text
    assert is_clean(text)


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_a_key_block_loses_its_body_and_keeps_its_frame(kind: str) -> None:
    block = key_block(kind)
    out = redact("before\n" + block + "after\n")
    assert out == (
        f"before\n-----BEGIN {kind}PRIVATE KEY-----{MARK}-----END {kind}PRIVATE KEY-----\nafter\n"
    )


def test_a_block_without_end_is_masked_to_its_last_line_only() -> None:
    out = redact(key_block(end=False) + "\nand the build went on\n")
    assert "went on" in out and MARK in out
    assert len(out) < 100


def test_a_block_in_one_line_of_json_ends_at_the_quote() -> None:
    block = key_block().replace("\n", "\\n")
    out = redact('{"private_key": "' + block + '", "client_email": "a@b.test"}')
    assert body(64, ALNUM + "+/", seed=2) not in out and "client_email" in out


def test_a_block_as_a_viewer_numbers_it() -> None:
    numbered = "\n".join(f"{i:6}\t{row}" for i, row in enumerate(key_block(end=False).split("\n")))
    out = redact(numbered + "\n    99\tdone here\n")
    assert body(64, ALNUM + "+/", seed=3) not in out and "done here" in out


def test_mentioning_a_key_block_masks_nothing() -> None:
    text = "A file that starts with -----BEGIN PRIVATE " + "KEY----- is a key. Do not commit it."
    assert redact(text) == text


def test_five_kinds_of_secret_in_one_tool_output_all_vanish() -> None:
    secrets = [
        body(86, ALNUM + "+/"),
        "sk-ant-" + body(60, DASHED),
        body(64, ALNUM + "+/", seed=1),
        SECRET,
        "sbp" + "_" + body(40, HEX),
    ]
    output = (
        f"AZURE=DefaultEndpointsProtocol=https;AccountKey={secrets[0]}==;x=y\n"
        f"ANTHROPIC={secrets[1]}\n{key_block()}\n"
        f"DB=postgres://u:{secrets[3]}@h/db\nSUPA={secrets[4]}\n"
    )
    for out in (redact(output), clip(output, 2000, 500), clip(output, 60, 60)):
        assert not [secret for secret in secrets if secret in out]


PIECES = st.sampled_from(
    ["token", "password", "=", ":", " ", '"', "'", "\\", "\n", "<", ">", "://", "@", "-", "--", ".",
     "$X", "{", "}", "curl -u ", "sudo -S", "echo ", "|", "Bearer ", "ey", "eyJ", "AKIA", "sk-",
     "a7Bc9", body(20), body(40), SECRET, MARK, "x", "비밀번호", "İ", "&", ";", key_block(lines=1),
     "cookie", "ghp_", body(36), web_token(), "PRIVATE KEY", "%", "!"]
)  # fmt: skip


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    assert is_clean(once)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.text(max_size=200), st.integers(-2, 80), st.integers(-2, 80))
def test_any_text_is_taken_and_budgets_hold(text: str, head: int, tail: int) -> None:
    redact(text)
    redact_command(text)
    assert len(clip(text, head, tail)) <= max(head, 0) + max(tail, 0) + len(GAP)


STRADDLERS = {
    "token": "ghp" + "_" + body(36),
    "assigned": "password=" + body(60) + "!",
    "block": key_block(lines=90),
    "web token": web_token(),
    "url": "postgres://app:" + body(40) + "@db.test/x",
    "option": "mysql -u root -p" + body(30) + " app",
}


@pytest.mark.parametrize("secret", STRADDLERS.values(), ids=STRADDLERS.keys())
def test_no_cut_leaves_a_fragment(secret: str) -> None:
    """The secret starts at 400; heads and tails cut through every part of it."""
    text = ("lorem ipsum dolor sit " * 19)[:399] + "\n" + secret + "\n" + "sit amet elit " * 40
    values = [
        part for part in secret.replace("=", "\n").replace("@", "\n").split() if len(part) > 29
    ]
    fragments = {part[i : i + 8] for part in values for i in range(len(part) - 8)}
    fragments = {part for part in fragments if part in secret and any(map(str.isdigit, part))}
    assert fragments
    step = 1 if len(secret) < 200 else 97
    for offset in range(0, len(secret) + 4, step):
        for out in (clip(text, 400 + offset), clip(text, 10, len(text) - 400 - offset)):
            found = [part for part in fragments if part in out]
            assert not found, (offset, found[:3], out[-60:])


def test_a_block_that_began_far_before_the_tail_is_masked() -> None:
    block = key_block(lines=300)
    assert len(block) > 2 * BEYOND
    out = clip("start\n" + block + "the end\n", 5, 3000)
    assert body(64, ALNUM + "+/", seed=299)[:20] not in out
    assert out.endswith("the end\n")


def test_secrets_that_shrink_do_not_pull_the_window_edge_into_view() -> None:
    """Masking shortens the head; what fills the space must not be an unread fragment."""
    rows = "".join(f"TOKEN_{i}={body(80, seed=i)}\n" for i in range(200))
    out = clip(rows, 3000)
    assert not [i for i in range(200) if body(80, seed=i)[:12] in out]


def test_clip_keeps_what_fits_and_joins_head_and_tail() -> None:
    assert clip("short", 10) == "short"
    assert clip("a" * 50, 10) == "a" * 10
    assert clip("a" * 50 + "b" * 50, 10, 5) == "a" * 10 + GAP + "b" * 5
    assert clip("a" * 50, 0, 5) == "aaaaa"
    assert clip("a" * 50, 0) == ""


SHAPES_THAT_HURT = [
    "://", "token=", "-----BEGIN RSA PRIVATE " + "KEY-----", "ey", "curl -u ", '"', "\\", "pass",
    "sudo -S <<< ", "cookie: a=", "<password>", "|", " -p", "key: ", "\\\n -p", "İ", "1", "A",
    "echo x | sudo -S ", "mysql -p", "net use \\\\a ", "token:=", "PRIVATE " + "KEY", "@tcp(",
]  # fmt: skip


@pytest.mark.parametrize("unit", SHAPES_THAT_HURT)
def test_work_grows_with_the_length_and_not_its_square(unit: str) -> None:
    """Counts, not clocks: a text four times as long takes less than ten times the calls."""
    import sys

    def calls(size: int) -> int:
        count = 0

        def tick(*_args: object) -> None:
            nonlocal count
            count += 1

        text = (unit * (size // len(unit) + 1))[:size]
        sys.setprofile(tick)
        try:
            redact(text)
        finally:
            sys.setprofile(None)
        return count

    assert calls(16_384) < 10 * (calls(4_096) + 500)
