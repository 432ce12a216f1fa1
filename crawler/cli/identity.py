"""`recrawl explain --url`: how a text becomes the URL that the lake would know it by. Opens no lake, writes nothing."""

from pathlib import Path

from crawler.cli.edge import settings_to_read
from crawler.cli.show import facts, say, show, warn, write_json
from crawler.core.url_rules import NO_RULES, UrlRules
from crawler.core.url_steps import Trace, trace
from crawler.store.ask import Answer


def explain_identity(text: str, settings: Path | None, *, as_json: bool) -> None:
    """Say what each step made of `text`. Raises BadSettings for settings that were named and cannot be read."""
    way = trace(text, None, _rules(settings))
    if as_json:
        write_json(way.to_dict())
        return
    facts([("given", way.given), ("identity", way.url or f"none: {way.reject}"), ("requested", _requested(way))])
    if way.steps:
        rows = iter([(step.name, step.url, step.why) for step in way.steps])
        show(Answer(("step", "URL after it", "why"), rows), title="What changed it")
    elif way.url is not None:
        say("Nothing changes it.")


def _rules(settings: Path | None) -> UrlRules:
    found = settings_to_read(settings)
    if found is None:
        warn("no settings here, so these are the rules without any")
        return NO_RULES
    return found.url_rules


def _requested(way: Trace) -> str:
    return way.fetch_url if way.fetch_url is not None and way.fetch_url != way.url else ""
