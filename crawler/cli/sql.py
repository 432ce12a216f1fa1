"""`recrawl sql`: a named question, a query, or a prompt, over the views of the lake."""

import sys
from typing import Annotated

import typer

from crawler.cli.edge import JsonOption, SettingsOption, open_lake_to_read
from crawler.cli.show import facts, say, show, warn
from crawler.core.errors import BadQuery
from crawler.core.url_rules import UrlRules
from crawler.core.urls import Reject, canonicalize
from crawler.core.userinfo import without_userinfo
from crawler.store.ask import Connection, ask, ask_named, questions
from crawler.store.reader import open_reader

_HELP = "A statement ends with ;   .tables  .questions  .quit   A question's name alone asks it."


def sql(
    name: Annotated[
        str | None, typer.Argument(help="A named question; `recrawl sql --list` shows them.", show_default=False)
    ] = None,
    parameters: Annotated[
        list[str] | None, typer.Argument(help="What the question needs, as KEY=VALUE.", show_default=False)
    ] = None,
    command: Annotated[str | None, typer.Option("-c", "--command", help="SQL to answer.", show_default=False)] = None,
    list_questions: Annotated[bool, typer.Option("--list", help="List the named questions.")] = False,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the lake in SQL (DuckDB). Without a question or -c: a prompt, or the SQL on standard input."""
    if list_questions:
        _list_questions()
        return
    lake = open_lake_to_read(settings)
    con = open_reader(lake)
    if name is not None and command is not None:
        raise BadQuery("both a named question and -c were given", "Give one of them")
    if command is not None:
        show(ask(con, command), as_json=as_json)
    elif name is not None:
        show(ask_named(con, name, _parse(parameters or [], lake.settings.url_rules)), as_json=as_json)
    elif sys.stdin.isatty():
        _prompt(con, as_json=as_json)
    else:
        show(ask(con, sys.stdin.read()), as_json=as_json)


def _parse(parameters: list[str], rules: UrlRules) -> dict[str, str]:
    found = {}
    for text in parameters:
        key, equals, value = text.partition("=")
        if not equals:
            raise BadQuery(f"parameter {text!r} has no =", "Write KEY=VALUE")
        found[key] = _canonical(value, rules) if key == "url" else value
    return found


def _canonical(text: str, rules: UrlRules) -> str:
    """The spelling that the lake knows a URL by, so that one may paste any other."""
    url = canonicalize(text, None, rules)
    if isinstance(url, Reject):
        found = f"url={without_userinfo(text)}"
        raise BadQuery(f"{found} is no URL to crawl ({url.reason})", "Write an absolute http or https URL")
    return url.url


def _list_questions() -> None:
    facts((" ".join([question.name, *question.parameters]), question.sentence) for question in questions().values())


def _prompt(con: Connection, *, as_json: bool) -> None:
    """Read statements until the end of input; a wrong one is said and forgotten."""
    import readline  # noqa: F401  gives input() line editing and history; no other command wants it

    say(_HELP)
    pending: list[str] = []
    while True:
        try:
            line = input("....... " if pending else "recrawl> ")
        except EOFError:
            say("")
            return
        except KeyboardInterrupt:
            say("")
            pending = []
            continue
        word = line.strip()
        if not pending and word in (".quit", ".exit", "exit", "quit"):
            return
        pending.append(line)
        if word.endswith(";") or word.startswith(".") or (len(pending) == 1 and word in questions()):
            text = "\n".join(pending).strip()
            pending = []
            _answer(con, text, as_json=as_json)
        elif not "".join(pending).strip():
            pending = []


def _answer(con: Connection, text: str, *, as_json: bool) -> None:
    try:
        if text == ".questions":
            _list_questions()
        elif text == ".tables":
            show(ask(con, "show tables"), as_json=as_json)
        elif text.startswith("."):
            say(_HELP)
        elif text in questions():
            show(ask_named(con, text, {}), as_json=as_json)
        else:
            show(ask(con, text), as_json=as_json)
    except BadQuery as error:
        warn(str(error))
