"""Secrets of one fetch task: what the settings refer to, read once at the edge, before any request.

A Secret shows its reference and nothing else, and cannot be pickled, so that its value gets into no log, no row and no
other process. `env:NAME` is a variable of the environment; `airflow:CONN_ID` a Connection, which only a caller inside
Airflow can look up.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn, TypeAlias

from crawler.core.config import Settings
from crawler.core.errors import MissingSecret
from crawler.core.references import is_header_value, is_reference

Login: TypeAlias = tuple[str, str]
"""User name and password; either may be empty."""
Connections: TypeAlias = Callable[[str], Login | None]
"""The login of a connection by its id; None if there is no such connection."""


class Secret:
    """A header's value that is shown by its reference only."""

    __slots__ = ("_value", "reference")

    def __init__(self, value: str, reference: str) -> None:
        self._value = value
        self.reference = reference

    def reveal(self) -> str:
        """The value, for the one who sends it."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self.reference})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} stays in its process")


class Secrets:
    """The resolved references of the settings.

    login: as the value of an Authorization header (Basic, RFC 7617). text: as it is.
    """

    def __init__(self, login: Mapping[str, Secret], text: Mapping[str, Secret]) -> None:
        self.login = login
        self.text = text


def resolve_secrets(
    settings: Settings, environment: Mapping[str, str], connections: Connections | None = None
) -> Secrets:
    """Look up every reference of `settings`. Raises MissingSecret, which says what to set.

    connections: how to look up an Airflow Connection; None outside Airflow. Of a Connection a header gets the password.
    """
    login: dict[str, Secret] = {}
    text: dict[str, Secret] = {}
    for key, reference, is_login in _references(settings):
        user, password = _look_up(key, reference, environment, connections, is_login=is_login)
        value = f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}" if is_login else password
        if not is_header_value(value):
            raise MissingSecret(key, reference, "is empty or holds characters that no header may hold", "Correct it")
        (login if is_login else text)[reference] = Secret(value, reference)
    return Secrets(login, text)


def _references(settings: Settings) -> Iterator[tuple[str, str, bool]]:
    """Key, reference, and whether it stands for a login."""
    if settings.fetch.proxy_credentials:
        yield "fetch.proxy_credentials", settings.fetch.proxy_credentials, True
    for name, own in settings.host.items():
        for key, reference in (("credentials", own.credentials), ("proxy_credentials", own.proxy_credentials)):
            if reference:
                yield f'host."{name}".{key}', reference, True
        for header, value in own.headers.items():
            if is_reference(value):
                yield f'host."{name}".headers.{header}', value, False


def _look_up(
    key: str, reference: str, environment: Mapping[str, str], connections: Connections | None, *, is_login: bool
) -> Login:
    kind, _, name = reference.partition(":")
    if kind == "airflow":
        if connections is None:
            problem = "is an Airflow Connection, which only Airflow's tasks can read"
            raise MissingSecret(key, reference, problem, "Run the cycle under Airflow, or refer to env:NAME here")
        found = connections(name)
        if found is None:
            cure = (
                f"Run `airflow connections add {name} --conn-type generic --conn-login USER --conn-password PASSWORD`"
            )
            raise MissingSecret(key, reference, "is not there", cure)
        return found
    value = environment.get(name, "").strip()
    if not value:
        raise MissingSecret(key, reference, "is not set", f"Set {name} in the environment of the fetch")
    user, colon, password = value.partition(":")
    if not is_login:
        return "", value
    if not colon:
        raise MissingSecret(key, reference, "is no login", f"Set {name} to user:password")
    return user, password
