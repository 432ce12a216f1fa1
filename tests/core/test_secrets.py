"""Secrets by reference: looked up before any request, shown by their reference, kept in their process."""

import pickle

import pytest

from crawler.core.config import Settings, parse_settings
from crawler.core.errors import MissingSecret
from crawler.core.secrets import Connections, Login, resolve_secrets


def settings_of(**own: object) -> Settings:
    return parse_settings({"host": {"a.test": own}})


def test_a_variable_is_a_login_or_the_text_of_a_header() -> None:
    settings = settings_of(credentials="env:LOGIN", headers={"X-Key": "env:KEY", "Accept-Language": "de"})
    secrets = resolve_secrets(settings, {"LOGIN": "joe:pa:ss\n", "KEY": " k3y\n"})
    assert secrets.login["env:LOGIN"].reveal() == "Basic am9lOnBhOnNz"
    assert {name: secret.reveal() for name, secret in secrets.text.items()} == {"env:KEY": "k3y"}


def test_a_connection_is_looked_up_by_the_caller() -> None:
    known: dict[str, Login] = {"site": ("joe", "pw")}
    settings = settings_of(credentials="airflow:site", headers={"X-Key": "airflow:site"})
    secrets = resolve_secrets(settings, {}, known.get)
    assert secrets.login["airflow:site"].reveal() == "Basic am9lOnB3"
    assert secrets.text["airflow:site"].reveal() == "pw"


@pytest.mark.parametrize(
    ("own", "environment", "connections", "cure"),
    [
        ({"credentials": "env:LOGIN"}, {}, None, "Set LOGIN in the environment"),
        ({"credentials": "env:LOGIN"}, {"LOGIN": " "}, None, "Set LOGIN in the environment"),
        ({"credentials": "env:LOGIN"}, {"LOGIN": "hunter2"}, None, "Set LOGIN to user:password"),
        ({"headers": {"X-Key": "env:KEY"}}, {"KEY": "hunter2\nHost: b.test"}, None, "no header may hold"),
        ({"headers": {"X-Key": "env:KEY"}}, {"KEY": "hunter2\u20ac"}, None, "no header may hold"),
        ({"credentials": "airflow:site"}, {}, None, "Run the cycle under Airflow, or refer to env:NAME"),
        ({"credentials": "airflow:site"}, {}, {}.get, "airflow connections add site"),
        ({"headers": {"X-Key": "airflow:site"}}, {}, {"site": ("joe", "")}.get, "is empty"),
        ({"proxy": "http://p.test:1", "proxy_credentials": "env:PROXY"}, {}, None, "Set PROXY in the environment"),
    ],
)
def test_a_missing_secret_says_what_to_set_and_never_the_secret(
    own: dict[str, object], environment: dict[str, str], connections: Connections | None, cure: str
) -> None:
    with pytest.raises(MissingSecret) as caught:
        resolve_secrets(settings_of(**own), environment, connections)
    assert cure in str(caught.value)
    assert 'host."a.test".' in str(caught.value)
    assert "hunter2" not in repr(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_secret_shows_its_reference_only_and_stays_in_its_process() -> None:
    secret = resolve_secrets(settings_of(credentials="env:LOGIN"), {"LOGIN": "joe:hunter2"}).login["env:LOGIN"]
    assert f"{secret} {secret!r} {[secret]}" == "Secret(env:LOGIN) Secret(env:LOGIN) [Secret(env:LOGIN)]"
    with pytest.raises(TypeError, match="stays in its process"):
        pickle.dumps(secret)


def test_settings_show_no_header() -> None:
    assert "s3cret" not in repr(settings_of(headers={"X-Internal": "s3cret"}))
