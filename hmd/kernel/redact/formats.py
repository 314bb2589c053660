"""Owns the credential formats that identify themselves: a published prefix and a body after it.

Each row is (prefix, alphabet of the body, least length, greatest length or 0). The rows come from
the issuers' public documentation; a body that runs on beyond its greatest length is some other
word. Formats that are known by an infix have a function of their own below the table.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.redact.values import is_hollow, is_wordish, word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Spans = list[tuple[int, int]]

_WORD = compile_pattern(r"\w*")
_DASHED = compile_pattern(r"[\w-]*")
_HEX = compile_pattern(r"[0-9a-fA-F]*")
_UPPER = compile_pattern(r"[A-Z0-9]*")
_BASE64 = compile_pattern(r"[\w+/-]*={0,3}")
# What can hold a prefixed credential at all: a long word that is not lower-case letters alone.
# Ordinary text has few of them, and only they are compared with the prefixes.
_SHORTEST = 13
_GENERATED = compile_pattern(r"[0-9A-Z]")
_DOTTED = compile_pattern(r"[\w.+/=:-]*")

FORMATS = (
    # Models and inference.
    ("sk-ant-", _DASHED, 20, 0),
    ("sk-", _DASHED, 20, 0),
    ("sk_", _WORD, 20, 0),
    ("gsk_", _WORD, 40, 0),
    ("xai-", _DASHED, 40, 0),
    ("pplx-", _WORD, 32, 0),
    ("r8_", _WORD, 30, 0),
    ("nvapi-", _DASHED, 40, 0),
    ("tvly-", _DASHED, 20, 0),
    ("csk-", _WORD, 30, 0),
    ("fw_", _WORD, 22, 0),
    ("voyage-", _DASHED, 40, 0),
    ("jina_", _WORD, 40, 0),
    ("lsv2_", _WORD, 40, 0),
    ("pa-", _DASHED, 40, 0),
    ("tgp_v1_", _DASHED, 30, 0),
    ("ls__", _WORD, 24, 0),
    # Code hosts and registries.
    ("ghp_", _WORD, 20, 0),
    ("gho_", _WORD, 20, 0),
    ("ghu_", _WORD, 20, 0),
    ("ghs_", _DOTTED, 20, 0),
    ("ghr_", _WORD, 20, 0),
    ("github_pat_", _WORD, 20, 0),
    ("glpat-", _DOTTED, 20, 0),
    ("gldt-", _DASHED, 20, 0),
    ("glrt-", _DOTTED, 20, 0),
    ("glrtr-", _DASHED, 20, 0),
    ("glft-", _DASHED, 20, 0),
    ("glcbt-", _DASHED, 20, 0),
    ("glptt-", _DASHED, 40, 40),
    ("glimt-", _DASHED, 25, 25),
    ("glsoat-", _DASHED, 20, 0),
    ("gloas-", _DASHED, 64, 64),
    ("glffct-", _DASHED, 20, 0),
    ("glagent-", _DASHED, 50, 0),
    ("glwt-", _DASHED, 20, 0),
    ("GR1348941", _DASHED, 20, 50),
    ("_gitlab_session=", _WORD, 32, 0),
    ("ATBB", _WORD, 24, 0),
    ("ATATT3", _DOTTED, 60, 0),
    ("ATCTT3", _DOTTED, 60, 0),
    ("npm_", _WORD, 36, 0),
    ("pypi-AgE", _DASHED, 40, 0),
    ("rubygems_", _HEX, 48, 48),
    ("cio", _WORD, 32, 32),
    ("oy2", _WORD, 43, 43),
    ("CLOJARS_", _WORD, 60, 60),
    ("dckr_pat_", _DASHED, 20, 0),
    ("dckr_oat_", _DASHED, 20, 0),
    ("AKCp", _WORD, 60, 0),
    ("AKC", _WORD, 10, 0),
    ("cmVmd", _WORD, 59, 59),
    ("sgp_", _WORD, 40, 0),
    ("sourcegraph_", _WORD, 40, 0),
    ("API-", _UPPER, 25, 28),
    ("sqp_", _WORD, 40, 0),
    ("squ_", _WORD, 40, 0),
    ("sqa_", _WORD, 40, 0),
    ("bkua_", _WORD, 40, 0),
    ("CCIPAT_", _WORD, 40, 0),
    # Clouds and hosting.
    ("AKIA", _UPPER, 16, 16),
    ("ASIA", _UPPER, 16, 16),
    ("ABIA", _UPPER, 16, 16),
    ("ACCA", _UPPER, 16, 16),
    ("A3T", _UPPER, 17, 17),
    ("ABSK", _BASE64, 80, 0),
    ("bedrock-api-key-", _BASE64, 20, 0),
    ("AIza", _DASHED, 35, 36),
    ("ya29.", _DASHED, 30, 0),
    ("GOCSPX-", _DASHED, 24, 0),
    ("1//0", _DASHED, 40, 0),
    ("LTAI", _WORD, 12, 26),
    ("AKID", _WORD, 32, 32),
    ("dop_v1_", _HEX, 64, 64),
    ("doo_v1_", _HEX, 64, 64),
    ("dor_v1_", _HEX, 64, 64),
    ("cfat_", _WORD, 40, 0),
    ("cfut_", _WORD, 40, 0),
    ("cfk_", _WORD, 40, 0),
    ("v1.0-", _DASHED, 100, 0),
    ("fo1_", _DASHED, 40, 0),
    ("fm1", _BASE64, 60, 0),
    ("fm2", _BASE64, 60, 0),
    ("HRKU-", _DASHED, 32, 0),
    ("rnd_", _WORD, 28, 0),
    ("nfp_", _WORD, 36, 0),
    ("nfc_", _WORD, 36, 0),
    ("vcp_", _WORD, 24, 0),
    ("vci_", _WORD, 24, 0),
    ("vca_", _WORD, 24, 0),
    ("vcr_", _WORD, 24, 0),
    ("vck_", _WORD, 24, 0),
    ("vercel_blob_rw_", _WORD, 24, 0),
    ("sha256~", _DASHED, 43, 43),
    ("tk-us-", _DASHED, 48, 0),
    ("AQVN", _DASHED, 35, 38),
    ("YCAJE", _DASHED, 20, 0),
    ("YCM", _DASHED, 35, 0),
    ("YCN", _DASHED, 35, 0),
    ("YCO", _DASHED, 35, 0),
    ("YC", _DASHED, 38, 38),
    # Secrets managers, infrastructure and keys.
    ("hvs.", _DASHED, 24, 0),
    ("hvb.", _DASHED, 24, 0),
    ("hvr.", _DASHED, 24, 0),
    ("s.", _WORD, 24, 24),
    ("b.AAAAAQ", _DASHED, 80, 0),
    ("ops_eyJ", _BASE64, 80, 0),
    ("A3-", _DASHED, 30, 0),
    ("AGE-SECRET-KEY-1", _UPPER, 58, 58),
    ("dp.pt.", _DOTTED, 40, 0),
    ("dp.st.", _DOTTED, 40, 0),
    ("dp.ct.", _DOTTED, 40, 0),
    ("dp.sa.", _DOTTED, 40, 0),
    ("dp.scim.", _DOTTED, 40, 0),
    ("dp.audit.", _DOTTED, 40, 0),
    ("pul-", _HEX, 40, 40),
    ("pnu_", _WORD, 36, 36),
    ("dapi", _DASHED, 32, 34),
    ("dkea", _HEX, 32, 32),
    ("ico-", _WORD, 32, 32),
    ("EAAA", _DASHED, 50, 0),
    ("tskey-", _DASHED, 18, 0),
    ("dnkey-", _DASHED, 60, 0),
    ("authress_", _DOTTED, 30, 0),
    ("4b1d", _WORD, 38, 38),
    ("pscale_tkn_", _DOTTED, 32, 0),
    ("pscale_oauth_", _DOTTED, 32, 0),
    ("pscale_pw_", _DOTTED, 32, 0),
    ("sbp_", _WORD, 32, 0),
    ("sb_secret_", _DASHED, 20, 0),
    ("tfp_", _WORD, 40, 0),
    ("nat_", _WORD, 40, 0),
    ("pat.", _DOTTED, 60, 0),
    ("sat.", _DOTTED, 60, 0),
    ("sm_pat_", _WORD, 16, 0),
    ("sm_aat_", _WORD, 16, 0),
    ("sm_sat_", _WORD, 16, 0),
    # Payments and commerce.
    ("sk_live_", _WORD, 8, 0),
    ("sk_test_", _WORD, 8, 0),
    ("sk_prod_", _WORD, 8, 0),
    ("rk_live_", _WORD, 8, 0),
    ("rk_test_", _WORD, 8, 0),
    ("rk_prod_", _WORD, 8, 0),
    ("whsec_", _BASE64, 24, 0),
    ("sq0atp-", _DASHED, 20, 0),
    ("sq0csp-", _DASHED, 40, 0),
    ("shpat_", _WORD, 32, 0),
    ("shpca_", _WORD, 32, 0),
    ("shppa_", _WORD, 32, 0),
    ("shpss_", _WORD, 32, 0),
    ("shptka_", _WORD, 32, 0),
    ("FLWSECK", _DASHED, 16, 0),
    ("FLWPUBK", _DASHED, 32, 0),
    ("duffel_", _DASHED, 40, 0),
    ("shippo_", _WORD, 40, 0),
    ("EZAK", _WORD, 50, 0),
    ("EZTK", _WORD, 50, 0),
    ("access-sandbox-", _DASHED, 30, 0),
    ("access-production-", _DASHED, 30, 0),
    ("access_token$production$", _DOTTED, 40, 0),
    # Messages and mail.
    ("xox", _DASHED, 12, 0),
    ("xapp-", _DASHED, 16, 0),
    ("xoxe.", _DASHED, 24, 0),
    ("SG.", _DOTTED, 40, 0),
    ("key-", _HEX, 32, 32),
    ("xkeysib-", _DASHED, 70, 0),
    ("xsmtpsib-", _DASHED, 70, 0),
    ("re_", _WORD, 28, 0),
    ("SK", _HEX, 32, 32),
    ("AC", _HEX, 32, 32),
    ("EAA", _WORD, 60, 0),
    # Observability, work tools, data.
    ("glc_", _BASE64, 32, 0),
    ("glsa_", _WORD, 32, 0),
    ("eyJrIjoi", _BASE64, 40, 0),
    ("NRAK-", _WORD, 24, 0),
    ("NRII-", _DASHED, 24, 0),
    ("NRJS-", _WORD, 15, 0),
    ("dt0c01.", _DOTTED, 60, 0),
    ("dt0s16.", _DOTTED, 60, 0),
    ("sntrys_", _BASE64, 40, 0),
    ("sntryu_", _HEX, 64, 64),
    ("phx_", _WORD, 32, 0),
    ("lin_api_", _WORD, 32, 0),
    ("lin_oauth_", _WORD, 32, 0),
    ("ntn_", _WORD, 40, 52),
    ("secret_", _WORD, 43, 43),
    ("PMAK-", _DASHED, 50, 0),
    ("PMAT-", _WORD, 26, 0),
    ("figd_", _DASHED, 36, 0),
    ("CFPAT-", _DASHED, 40, 0),
    ("fio-u-", _DASHED, 60, 0),
    ("rdme_", _WORD, 60, 0),
    ("aio_", _WORD, 28, 28),
    ("p8e-", _WORD, 32, 32),
    ("sdk-", _DASHED, 36, 36),
    ("api-", _DASHED, 36, 36),
    ("mob-", _DASHED, 36, 36),
    ("apify_api_", _WORD, 30, 0),
    ("sl.", _DASHED, 60, 0),
    ("t1.", _DOTTED, 80, 0),
    ("s-s4t2ud-", _HEX, 64, 64),
    ("s-s4t2af-", _HEX, 64, 64),
)  # fmt: skip

# Bodies that may hold lower-case letters only.
LOWER_CASE_FORMATS = (
    ("hf_", _WORD, 34, 40),
    ("api_org_", _WORD, 34, 40),
)

# A word that begins like a format and is an ordinary compound (`sk-learn-contrib-…`).
_AMBIGUOUS = word_set(
    "sk- sk_ pa- API- api- sdk- mob- re_ nat_ fw_ rnd_ secret_ key- voyage- duffel_ A3- s. "
    "npm_ xox ls__ pat. sat. sl. t1. fm1 fm2 v1.0- sgp_ cfk_ sqa_ squ_ sqp_ tfp_ vci_ vcr_"
)
_DISCORD = compile_pattern(r"(?<![\w-])[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}")
_DISCORD_LENGTH = 59
_AZURE_HEAD = 3
_AZURE_TAIL = compile_pattern(r"[\w~.-]{31,34}")


def find(text: str, spans: "Spans") -> None:
    """Appends the span of every self-identifying credential in `text`."""
    long = [word for word in text.split() if len(word) >= _SHORTEST]
    runs = "\n".join([word for word in long if _GENERATED.search(word)])
    for prefix, body, least, most in FORMATS if runs else ():
        if prefix in runs:
            _find_prefixed(text, prefix, body, least, most, spans)
    for prefix, body, least, most in LOWER_CASE_FORMATS:
        if prefix in text:
            _find_prefixed(text, prefix, body, least, most, spans)
    for infix, finder in _INFIXES:
        at = text.find(infix)
        while at >= 0:
            finder(text, at, spans)
            at = text.find(infix, at + len(infix))
    if any(len(word) >= _DISCORD_LENGTH for word in long):
        for match in _DISCORD.finditer(text):
            if any(map(str.isdigit, match[0])) and any(map(str.isupper, match[0][1:])):
                spans.append(match.span())


def _find_prefixed(
    text: str, prefix: str, body: "object", least: int, most: int, spans: "Spans"
) -> None:
    size = len(prefix)
    at = text.find(prefix)
    while at >= 0:
        start = at + size
        end = body.match(text, start).end()  # type: ignore[attr-defined]
        length = end - start
        if length >= least:
            run = text[start:end].rstrip(".:/-") if body is _DOTTED else text[start:end]
            if (not most or length <= most) and _at_boundary(text, at) and _is_body(prefix, run):
                spans.append((at, start + len(run)))
        at = text.find(prefix, max(end, start))


def _is_body(prefix: str, run: str) -> bool:
    if is_hollow(run):
        return False
    if prefix == "hf_" and "_" in run:
        return False
    if prefix == "AKIA":
        return not run.endswith("EXAMPLE")  # the documentation's own key
    if prefix in _AMBIGUOUS:
        return not is_wordish(run) and _has_digit(run)
    return True


def _has_digit(run: str) -> bool:
    return any(map(str.isdigit, run))


def _at_boundary(text: str, at: int) -> bool:
    """True when no word runs into position `at`; an escape (`\\n`, `%3D`) is no word."""
    if at == 0:
        return True
    before = text[at - 1]
    if not before.isalnum():
        return True
    if before in "nrt" and at > 1 and text[at - 2] == "\\":
        return True
    return at > 2 and text[at - 3] == "%"


def _azure_client_secret(text: str, at: int, spans: "Spans") -> None:
    """Entra client secret: three characters, a digit, `Q~`, 31 to 34 more."""
    start = at - 1 - _AZURE_HEAD
    tail = _AZURE_TAIL.match(text, at + 2)
    if start >= 0 and tail and text[at - 1].isdigit() and not is_hollow(tail[0]):
        spans.append((start, tail.end()))


def _terraform_token(text: str, at: int, spans: "Spans") -> None:
    """HCP Terraform: 14 characters, `.atlasv1.`, 60 to 70 more."""
    body = _DASHED.match(text, at + 9)
    if at >= 14 and body and len(body[0]) >= 40 and text[at - 14 : at].isalnum():
        spans.append((at - 14, body.end()))


def _maxmind_key(text: str, at: int, spans: "Spans") -> None:
    """MaxMind licence key: 6 characters, `_`, 29 more, `_mmk`."""
    start = at - 36
    if start >= 0 and text[start + 6] == "_" and text[start : start + 6].isalnum():
        spans.append((start, at + 4))


def _facebook_token(text: str, at: int, spans: "Spans") -> None:
    """Facebook app token: 15 or 16 digits, `|`, 27 or more."""
    body = _DASHED.match(text, at + 1)
    if body and len(body[0]) >= 27 and text[max(at - 15, 0) : at].isdigit() and at >= 15:
        spans.append(
            (at - 16 if text[at - 16 : at].isdigit() and at >= 16 else at - 15, body.end())
        )


def _telegram_token(text: str, at: int, spans: "Spans") -> None:
    """Telegram bot token: 8 to 10 digits, `:A`, 34 more."""
    body = _DASHED.match(text, at + 1)
    if not body or len(body[0]) != 35:
        return
    start = at
    while start > 0 and at - start < 11 and text[start - 1].isdigit():
        start -= 1
    if 5 <= at - start <= 10:
        spans.append((start, body.end()))


def _mailchimp_key(text: str, at: int, spans: "Spans") -> None:
    """Mailchimp: 32 hexadecimal digits, `-us`, the data centre's number."""
    head = text[max(at - 32, 0) : at]
    if len(head) == 32 and _HEX.fullmatch(head) and text[at + 3 : at + 4].isdigit():
        spans.append((at - 32, at + 4 + text[at + 4 : at + 5].isdigit()))


def _airtable_token(text: str, at: int, spans: "Spans") -> None:
    """Airtable: `pat`, 14 characters, a dot, 64 hexadecimal digits."""
    body = _HEX.match(text, at + 18)
    if text[at + 17 : at + 18] == "." and body and len(body[0]) >= 40 and _at_boundary(text, at):
        spans.append((at, body.end()))


_INFIXES: "tuple[tuple[str, Callable[[str, int, Spans], None]], ...]" = (
    ("Q~", _azure_client_secret),
    (".atlasv1.", _terraform_token),
    ("_mmk", _maxmind_key),
    ("|", _facebook_token),
    (":A", _telegram_token),
    ("-us", _mailchimp_key),
    ("pat", _airtable_token),
)
