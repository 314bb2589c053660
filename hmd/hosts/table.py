"""The one table that names every host adapter."""

from hmd.hosts import claude_code

HOSTS = {claude_code.HOST: claude_code}
DEFAULT = claude_code.HOST
