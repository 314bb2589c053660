"""Guards that one address has one spelling, that patterns cover no more than they say."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.url import normalize_url, url_matches


@pytest.mark.parametrize(
    ("url", "spelling"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM/Path", "https://example.com/Path"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:8443/a", "https://example.com:8443/a"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://ann:secret@example.com/", "https://example.com/"),
        ("https://example.com@evil.test/", "https://evil.test/"),
        ("https://example.com\\@evil.test/", "https://example.com/@evil.test/"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("https://example.com/#a?b", "https://example.com/"),
        ("https://example.com?q=1", "https://example.com/?q=1"),
        ("https://example.com/a/../b/./c", "https://example.com/b/c"),
        ("https://example.com/a/%2e%2E/b", "https://example.com/b"),
        ("https://example.com/a/..", "https://example.com/"),
        ("https://example.com/%7eann/%c3%a9", "https://example.com/~ann/%C3%A9"),
        ("https://example.com/100%", "https://example.com/100%"),
        ("https://example.com./a", "https://example.com/a"),
        ("https://[::1]:8080/a", "https://[::1]:8080/a"),
        ("https:///example.com/a", "https://example.com/a"),
        (" https://exam\nple.com/a\t", "https://example.com/a"),
        ("example.com/a", "https://example.com/a"),
        ("localhost:3000/a", "https://localhost:3000/a"),
        ("https://b\u00fccher.example/", "https://xn--bcher-kva.example/"),
        ("https://b\u00fccher\u3002example./", "https://xn--bcher-kva.example/"),
        ("https://a::b/", "https://a::b/"),
        ("::", ""),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("mailto:Ann@example.com", "mailto:Ann@example.com"),
        ("data:text/plain,hi", "data:text/plain,hi"),
        ("", ""),
        ("https://", ""),
    ],
)
def test_addresses_have_one_spelling(url: str, spelling: str) -> None:
    assert normalize_url(url) == spelling


@pytest.mark.parametrize(
    ("pattern", "url", "covered"),
    [
        ("https://example.com/docs*", "https://example.com/docs/a?x=1", True),
        ("https://example.com/docs*", "https://example.com/blog", False),
        ("https://example.com/docs*", "http://example.com/docs", False),
        ("https://example.com", "https://example.com/any/page", True),
        ("https://example.com/", "https://example.com/any/page", False),
        ("https://example.com/a", "https://example.com/a?x=1", True),
        ("https://example.com/a?x=*", "https://example.com/a?x=1", True),
        ("https://example.com/a?x=2", "https://example.com/a?x=1", False),
        ("http*://example.com/*", "http://example.com/a", True),
        ("*.example.com/*", "https://docs.example.com/a", True),
        ("*.example.com/*", "https://a.b.example.com/a", True),
        ("*.example.com/*", "https://example.com/a", False),
        ("*.example.com/*", "https://evil-example.com/a", False),
        ("*.example.com/*", "https://evil.test/.example.com/a", False),
        ("example.com/*", "https://example.com/a", True),
        ("example.com/*", "https://example.com.evil.test/a", False),
        ("domain:example.com", "https://example.com:8443/a", True),
        ("domain:Example.COM", "https://example.com/a", True),
        ("domain:example.com", "https://docs.example.com/a", False),
        ("domain:*.example.com", "https://docs.example.com/a", True),
        ("localhost:3000", "http://localhost:3000/a", True),
        ("localhost:3000", "http://localhost:4000/a", False),
        ("localhost:*", "http://localhost:4000/a", True),
        ("localhost", "http://localhost:4000/a", True),
        ("https://example.com:443/*", "https://example.com/a", True),
        ("https://example.com/%7Eann/*", "https://example.com/~ann/a", True),
        ("*", "https://example.com/", True),
        ("mailto:*", "mailto:ann@example.com", True),
        ("", "https://example.com/", False),
    ],
)
def test_patterns_of_addresses(pattern: str, url: str, covered: bool) -> None:
    assert url_matches(pattern, normalize_url(url)) is covered


@settings(derandomize=True, max_examples=300)
@given(st.text(alphabet="htps:/.@#?%2e[]a1-\\ é*", max_size=30), st.text(max_size=20))
def test_any_text_has_a_normal_form(url: str, pattern: str) -> None:
    """Guards the hook path (nothing raises) and that normalizing twice changes nothing."""
    for text in (url, "https://" + url, pattern):
        normal = normalize_url(text)
        assert normalize_url(normal) == normal
        url_matches(pattern, normal)
    assert normalize_url(None) == ""  # type: ignore[arg-type]
