"""Addresses: their one spelling, and the patterns that cover them. Nothing is resolved."""

from hmd.kernel.text import MAX_TEXT, compose, stars

_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPED_CONTROLS = dict.fromkeys((9, 10, 13))  # what browsers drop from an address
_DOTS = dict.fromkeys(map(ord, "\u3002\uff0e\uff61"), ".")  # RFC 3490, section 3.1
_SCHEME_EXTRA = {ord(char): None for char in "+-."}


def normalize_url(url: str) -> str:
    """The one spelling of an address (RFC 3986, section 6.2.2 and 6.2.3): scheme and host in lower
    case, no user-info, default port or fragment, no dot segments, no needless percent-escapes.
    An address without a scheme is an https one; `data:`, `mailto:` and the like keep their rest.
    """
    text = url[:MAX_TEXT].strip() if isinstance(url, str) else ""
    url = compose(text).translate(_ESCAPED_CONTROLS).partition("#")[0].strip()
    scheme, slashes, rest = url.partition("://")
    if not slashes or not _is_scheme(scheme):
        scheme, colon, rest = url.partition(":")
        if colon and _is_scheme(scheme) and "." not in scheme and not rest[:1].isdigit():
            return scheme.lower() + ":" + rest
        scheme, rest = "https", url.lstrip("/")
    scheme = scheme.lower()
    if scheme in _PORTS:
        head, mark, query = rest.partition("?")
        rest = head.replace("\\", "/").lstrip("/") + mark + query
    authority, path, query = _split_rest(rest)
    host, port = _split_port(authority.rpartition("@")[2])
    if not host and scheme in _PORTS:
        return ""
    if port and port != _PORTS.get(scheme):
        host += ":" + port
    return f"{scheme}://{host}{_url_path(path)}{query}"


def url_matches(pattern: str, url: str) -> bool:
    """Whether a normalized `url` fits `pattern`. `*` stands for any text; all else is literal.

    `domain:HOST` is the host alone. Otherwise the pattern is an address of which scheme, port, path
    and query may be left out, and what is left out may be anything. `*.example.com` is every host
    below example.com, not itself.
    """
    scheme, slashes, rest = url.partition("://")
    if not slashes:
        return stars(pattern, url)
    authority, path, query = _split_rest(rest)
    host, port = _split_port(authority)
    if pattern.startswith("domain:"):
        return stars(_host(pattern[7:].strip()), host)
    if pattern == "*":
        return True
    wanted_scheme, slashes, wanted = pattern.partition("://")
    if not slashes:
        wanted_scheme, wanted = "*", pattern
    if not stars(wanted_scheme.lower(), scheme):
        return False
    wanted_authority, wanted_path, wanted_query = _split_rest(wanted)
    wanted_host, wanted_port = _split_port(wanted_authority.rpartition("@")[2])
    if wanted_port not in ("", "*", port or _PORTS.get(scheme, "")):
        return False
    if not stars(wanted_host, host):
        return False
    if wanted_query:
        return stars(_url_path(wanted_path) + wanted_query, path + query)
    if not wanted_path:
        return True
    wanted_path = _url_path(wanted_path)
    return stars(wanted_path, path) or stars(wanted_path, path + query)


def _is_scheme(text: str) -> bool:
    return text[:1].isalpha() and text.isascii() and text.translate(_SCHEME_EXTRA).isalnum()


def _split_rest(rest: str) -> "tuple[str, str, str]":
    """Authority, path and query (with its `?`) of what follows `scheme://`."""
    head, mark, query = rest.partition("?")
    authority, slash, path = head.partition("/")
    return authority, slash + path, mark + query


def _split_port(authority: str) -> "tuple[str, str]":
    """Host and port; the colons of an IPv6 address stand in brackets."""
    bracket = authority.find("]") if authority.startswith("[") else 0
    colon = authority.find(":", max(bracket, 0))
    if colon < 0:
        return _host(authority), ""
    return _host(authority[:colon]), authority[colon + 1 :].lstrip("0")


def _host(host: str) -> str:
    """Lower case, without the dot of the root zone, international names in their ASCII form."""
    host = host.translate(_DOTS).rstrip(".").lower()
    if not host.isascii() and len(host) < 254:  # the codec is quadratic, names are short
        try:
            host = host.encode("idna").decode("ascii")
        except (UnicodeError, ValueError):
            pass
    return host.rstrip(".")


def _url_path(path: str) -> str:
    """`path` with unreserved characters unescaped, escapes in capitals and no dot segments."""
    if "%" in path:
        head, *others = path.split("%")
        path = head + "".join([_unescape(part) for part in others])
    if "/." in path:
        parts: list[str] = []
        segments = path.split("/")[1:]
        for segment in segments:
            if segment == "..":
                if parts:
                    parts.pop()
            elif segment != ".":
                parts.append(segment)
        if segments[-1] in (".", ".."):
            parts.append("")
        path = "/" + "/".join(parts)
    return path or "/"


def _unescape(part: str) -> str:
    """What follows a `%`, read."""
    try:
        char = chr(int(part[:2], 16)) if len(part) > 1 and part[:2].isalnum() else ""
    except ValueError:
        char = ""
    if char in _UNRESERVED:
        return char + part[2:]
    return "%" + (part[:2].upper() + part[2:] if char else part)
