"""Fake secrets in the right shape, put together at run time so that no scanner flags the files."""

import random
import string

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
DASHED = ALNUM + "-_"


def body(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """`length` characters that look generated; the same for the same arguments."""
    source = random.Random(f"{length}{alphabet}{seed}")
    text = "".join(source.choice(alphabet) for _ in range(length - 2))
    # A digit and a letter in every body: formats of words alone have tests of their own.
    return "a7" + text if alphabet is not UPPER else "Q7" + text


def key_block(kind: str = "RSA ", lines: int = 6, end: bool = True) -> str:
    """A private-key block of made-up base64."""
    rows = "\n".join(body(64, ALNUM + "+/", seed=line) for line in range(lines))
    head = f"-----BEGIN {kind}PRIVATE" + " KEY-----\n"
    return head + rows + (f"\n-----END {kind}PRIVATE" + " KEY-----\n" if end else "")


def web_token() -> str:
    """Three base64url segments, the first two of JSON objects."""
    head = "eyJhbGciOiJIUzI1NiIs" + "InR5cCI6IkpXVCJ9"
    return ".".join([head, "eyJ" + body(40), body(43, DASHED)])


def password(seed: int = 1) -> str:
    return "Zq" + body(12, seed=seed) + "!x"
