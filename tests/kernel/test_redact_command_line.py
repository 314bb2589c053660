"""Guards: the same letter means a password to one program and a path or a port to another."""

import pytest

from hmd.kernel.redact import MARK, redact, redact_command
from tests.kernel.secrets_of_ours import password

SECRET = password()


class _Unit:
    def __init__(self, *argv: str) -> None:
        self.argv = argv
        self.program = argv[0]


class _Form:
    def __init__(self, *units: _Unit) -> None:
        self.units = units


@pytest.mark.parametrize(
    "command",
    [
        "curl -u admin:{} https://x.test",
        "curl -uadmin:{} https://x.test",
        "curl -s --user 'admin:{}' https://x.test",
        "mysql -u root -p{} app",
        "sudo mysqldump --password={} app > d.sql",
        "sshpass -p {} ssh me@host",
        "sshpass -p'{}' ssh me@host",
        "docker login -u me -p {} reg.test",
        "az login --service-principal -u a -p {} --tenant t",
        "redis-cli -h h -a {} ping",
        "mongosh -u a -p {} h/db",
        "sqlcmd -S s -U sa -P {} -Q 'select 1'",
        "ldapsearch -x -D cn=a -w {} -b dc=x",
        "zip -P {} out.zip a b",
        "7z x -p{} a.7z",
        "smbclient //s/share -U user%{}",
        "htpasswd -b .htpasswd bob {}",
        "openssl rsa -in k.pem -passin pass:{}",
        "keytool -list -keystore k.jks -storepass {}",
        "aws configure set aws_secret_access_key {}",
        "npm config set //registry.test/:_authToken {}",
        "poetry config pypi-token.pypi {}",
        "poetry config http-basic.private me {}",
        "cargo login {}",
        "rabbitmqctl add_user me {}",
        "net use Z: \\\\srv\\s {} /user:u",
        "cmdkey /add:srv /user:u /pass:{}",
        "echo {} | docker login -u me --password-stdin",
        "echo '{}' | sudo -S apt update",
        "printf '%s' {} | gh auth login --with-token",
        "echo 'bob:{}' | chpasswd",
        'wrangler secret put X <<< "{}"',
        'ConvertTo-SecureString "{}" -AsPlainText -Force',
        "gpg --batch --passphrase {} -d f.gpg",
        "terraform apply -var='db_password={}'",
        "heroku config:set API_KEY={}",
        "kubectl create secret generic x --from-literal=password={}",
        "curl \\\n  -u admin:{} \\\n  https://x.test",
    ],
)
def test_the_option_that_carries_a_secret_is_masked(command: str) -> None:
    for text in (command.format(SECRET), f"$ {command.format(SECRET)}\nok\n"):
        out = redact_command(text)
        assert SECRET not in out and SECRET[4:] not in out and MARK in out
        assert redact(text) == out, "tool output that shows a command loses it too"


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -p src/app",
        "cp -p a b",
        "ssh -p 2222 deploy@host",
        "docker run -p 8080:80 -u 1000:1000 nginx",
        "docker login -u me -p $TOKEN reg.test",
        "mysql -u root -p app",
        "mysql -u root -p$PASS app",
        'curl -u "$USER:$PASS" https://x.test',
        "curl -u <user:password> https://x.test",
        "redis-cli -p 6379 ping",
        "zip -r out.zip a",
        "openssl req -newkey rsa:2048 -keyout k.pem -out c.pem",
        "echo $TOKEN | docker login --password-stdin",
        "aws configure set region us-east-1",
        "git config set user.name Kim",
        "npm config set registry https://registry.test",
        "gh secret set DEPLOY_KEY",
        "vault kv get secret/app",
        "sort -u names -t , -k 2",
        "tar -xzf a.tgz -C out",
        "git commit -m 'token handling: mask secrets'",
        "grep -rn password src | head",
        "docker build --secret id=npm,src=.npmrc .",
    ],
)
def test_the_same_letters_elsewhere_stay(command: str) -> None:
    assert redact_command(command) == command


def test_words_of_a_form_find_what_quoting_hides() -> None:
    text = f"bash -c 'my\"\"sql -p{SECRET} app'"
    assert SECRET in redact(text), "the plain split cannot know"
    out = redact_command(text, _Form(_Unit("mysql", f"-p{SECRET}", "app")))
    assert SECRET not in out


def test_a_form_of_another_shape_is_no_error() -> None:
    text = f"sshpass -p {SECRET} ssh h"
    for form in (None, object(), _Form(), type("F", (), {"units": [1, None]})()):
        assert SECRET not in redact_command(text, form)


def test_program_subcommand_and_options_stay_for_matching() -> None:
    out = redact_command(f"docker login -u me -p {SECRET} reg.test")
    assert out == f"docker login -u me -p {MARK} reg.test"
    assert redact_command(f"mysql -u root -p{SECRET} app") == f"mysql -u root -p{MARK} app"
