"""The environment of an extraction child: an allow-list that keeps what a login needs, by name.

Nothing that says "you run inside an agent" is on it, and `HMD_DISABLE` makes every hook of ours in
the child exit at once: extraction never learns from itself.
"""

from collections.abc import Mapping

from hmd.providers.base import Recorded

# What any program needs to run.
_GENERAL = (
    "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
    "SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE",
)  # fmt: skip
# Routing, certificates and proxies: no secrets in themselves.
_ROUTING = (
    "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "CLAUDE_CODE_SKIP_VERTEX_AUTH", "ANTHROPIC_BASE_URL",
    "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID",
    "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE", "CLOUD_ML_REGION", "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG",
    "CODEX_HOME", "OPENAI_BASE_URL",
    "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip
# Credentials, each by its name.
_CREDENTIALS = (
    "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "OPENAI_API_KEY", "CODEX_API_KEY",
)  # fmt: skip
ALLOWED = frozenset(_GENERAL + _ROUTING + _CREDENTIALS)


def child_environment(environ: Mapping[str, str], recorded: Recorded) -> dict[str, str]:
    """The whole environment of an extraction child.

    `environ` is the daemon's own; where it says nothing, PATH and the agent's configuration
    directory are those that install was run with.
    """
    child = {name: value for name, value in environ.items() if name in ALLOWED}
    child["PATH"] = recorded.path or environ.get("PATH", "")
    if recorded.claude_directory and recorded.claude_directory != _usual(environ):
        child.setdefault("CLAUDE_CONFIG_DIR", recorded.claude_directory)
    child["HMD_DISABLE"] = "1"
    child["DISABLE_AUTOUPDATER"] = "1"  # a background call must not replace the user's program
    child["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    return child


def _usual(environ: Mapping[str, str]) -> str:
    return environ.get("HOME", "") + "/.claude"
