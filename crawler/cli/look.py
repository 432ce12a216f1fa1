"""`recrawl status` and `explain`: how the cycles stand, and the story of one URL. They write nothing."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Annotated, Any

import typer

from crawler.cli.edge import JsonOption, SettingsOption, open_lake_to_read
from crawler.cli.identity import explain_identity
from crawler.cli.outlook import outlook_facts, show_belief
from crawler.cli.show import as_dicts, facts, say, show, write_json
from crawler.core.errors import BadQuery
from crawler.net.robots import deciding_line
from crawler.store import holds, overview
from crawler.store.ask import Answer
from crawler.store.explain import TIMELINE, Explanation, Verdict
from crawler.store.explain import explain as explain_url
from crawler.store.lake import Lake

_UNFINISHED = (overview.State.FAILED, overview.State.RUNNING, overview.State.STOPPED, overview.State.PLANNED)
_MARKS = 60  # of a timeline, on a screen
_CYCLE = ("cycle", "state", "planned", "done", "open", "late", "failed", "published_at")


def status(
    last: Annotated[int, typer.Option("--last", help="Newest cycles to show.", min=1)] = overview.LAST_CYCLES,
    buckets: Annotated[bool, typer.Option("--buckets", help="Show every bucket, not only the unfinished.")] = False,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how the cycles stand, bucket by bucket: planned, done, open, late, failed, and which days are missing."""
    lake = open_lake_to_read(settings)
    about = {
        "lake": lake.files.root,
        "schema version": lake.metadata.schema_version,
        "buckets": lake.buckets,
        "first cycle": str(lake.metadata.first_cycle),
    }
    parts = overview.partitions(lake, last=last)
    cycles = overview.cycles(lake, parts=parts)
    held = holds.all_held(lake)
    if as_json:
        found = {
            "cycles": [row.to_dict() for row in cycles],
            "partitions": [part.to_dict() for part in parts],
            "holds": [each.to_dict() for each in held],
        }
        write_json({**{name.replace(" ", "_"): value for name, value in about.items()}, **found})
        return
    facts(about.items())
    _table(({**row.to_dict(), "published_at": _instant(row.published_at)} for row in cycles), "Cycles", _CYCLE)
    shown = [part.to_dict() for part in parts if buckets or part.state in _UNFINISHED]
    shown = [{name: value for name, value in row.items() if name != "live"} for row in shown]
    if shown:
        _table(shown, "Buckets of these cycles" if buckets else "Buckets that are not finished")
    for live in (part.live for part in parts if part.live is not None):
        say(f"bucket {live.bucket} of {live.cycle} at {live.at}: {live.progress}")
    for each in held:
        say(f"held since {each.at}: {each.host}{_because(each.reason)}   recrawl release {each.host}")
    for row in cycles:
        if row.state != overview.State.PUBLISHED:
            say(f"{row.cycle} is {row.state}: {cure(row)}")


def cure(row: overview.CycleRow) -> str:
    """What completes a cycle that is not published."""
    if row.state == overview.State.RUNNING:
        return "wait for it"
    if row.state == overview.State.MISSING:
        backfill = f"airflow backfill create --dag-id recrawl --from-date {row.cycle} --to-date {row.cycle}"
        return f"recrawl run --cycle {row.cycle}   or   {backfill} --max-active-runs 1"
    return f"recrawl run --cycle {row.cycle}"


def explain(
    url: Annotated[str | None, typer.Argument(help="The URL, in any spelling.", show_default=False)] = None,
    identity: Annotated[
        str | None,
        typer.Option(
            "--url",
            help="Instead: how this text becomes the URL that the lake would know it by, step by step. It need not be "
            "known, and no lake is needed.",
            show_default=False,
        ),
    ] = None,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell a URL's story: what came of asking for it, why it was or was not in the last plan, and when it is next."""
    if (url is None) == (identity is None):
        raise BadQuery("explain takes a URL or --url", "Write `recrawl explain URL` or `recrawl explain --url TEXT`")
    if url is None:
        explain_identity(identity or "", settings, as_json=as_json)
        return
    lake = open_lake_to_read(settings)
    if as_json:
        story = explain_url(lake, url).to_dict()
        (found,) = as_dicts(Answer(tuple(story), iter([tuple(story.values())])))
        write_json(found)
        return
    tell(lake, url)


def tell(lake: Lake, url: str) -> None:
    """Show the story of `url`. Raises BadQuery for what is no URL."""
    story = explain_url(lake, url)
    links = story.links
    facts(
        [
            ("url", story.url),
            ("bucket", story.bucket),
            ("held", f"since {story.hold['at']}{_because(story.hold['reason'])}" if story.hold else ""),
            (
                "linked from",
                f"{links['pages']} page{'s' * (links['pages'] > 1)}, such as {links['example']}"
                if links["pages"]
                else "",
            ),
            *_state(story),
            ("robots.txt", _robots(story, lake.settings.crawl.product_token)),
            ("timeline", _timeline(story)),
            ("last plan", _sentence(story.last_plan)),
            ("next plan", _sentence(story.next_plan)),
            *(outlook_facts(story.outlook) if story.outlook else ()),
        ]
    )
    if story.outlook:
        show_belief(story.outlook)
    if story.history:
        told = ("epoch", "fetch_url", "robots_url", "robots_read_at")
        _table(({k: v for k, v in row.items() if k not in told} for row in story.history), "What came of asking for it")


def _state(story: Explanation) -> Iterable[tuple[str, object]]:
    state = story.state
    if state is None:
        return [("state", "not known")]
    never = "never asked for" if state["outcome"] is None else f"last {state['outcome']}"
    counts = f"{never}, {state['fetches']} fetches, {state['changes']} changes, {state['streak']} failures in a row"
    return [
        ("state", counts),
        ("copy of", state["duplicate_of"]),
        ("redirects to", state["redirect_url"]),
        ("known since", state["discovered_at"]),
        ("asked at", state["asked_at"]),
        ("changed at", state["changed_at"]),
        ("depth", f"{state['depth']} links from a seed" if not state["is_seed"] else "a seed"),
    ]


def _timeline(story: Explanation) -> str:
    if not story.history:
        return ""
    first, last = (f"{story.history[place]['fetched_at']:%Y-%m-%d}" for place in (0, -1))
    more = "... " * (len(story.timeline) > _MARKS)
    return f"{first} {more}{story.timeline[-_MARKS:]} {last}   ({TIMELINE})"


def _robots(story: Explanation, product_token: str) -> str:
    """Which robots.txt decided about the URL when it was last its turn, and by which line."""
    if not story.history or story.history[-1]["robots_url"] is None:
        return ""
    last = story.history[-1]
    if last["robots_version"] is None:
        return f"{last['robots_url']}, of which there was no version to go by at {_minute(last['fetched_at'])}"
    line = None if story.robots_txt is None else deciding_line(story.robots_txt, product_token, last["fetch_url"])
    did = "denied" if last["outcome"] == "denied_by_robots" else "allowed"
    by = f"by `{line}` in" if line else "by no line of" if story.robots_txt is not None else "by"
    read_at = _minute(last["robots_read_at"] or last["fetched_at"])
    return f"{did} {by} version {last['robots_version']}, read at {read_at} from {last['robots_url']}"


def _minute(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M} UTC"


def _sentence(verdict: Verdict) -> str:
    cycle = f"{verdict.cycle}: " if verdict.cycle else ""
    return f"{cycle}{verdict.code}: {verdict.reason}"


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""


def _table(rows: Iterable[Mapping[str, Any]], title: str, columns: tuple[str, ...] = ()) -> None:
    found = list(rows)
    names = columns or tuple(found[0]) if found else columns
    show(Answer(names, iter([tuple(_shown(row[name]) for name in names) for row in found])), title=title)


def _shown(value: object) -> object:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, int | float | str | date | datetime | None) else str(value)
