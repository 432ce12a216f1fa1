"""Fetch one bucket: the only stage with the network.

Reads the plan of the bucket and what was observed since, robots.txt copies and the hosts' politeness state, what other
buckets' owners want to know and have learnt of robots.txt, through `store.ledger`. Writes observation, capture, link,
robots, host_state and discovery, in segments and then in one file each, and wants. Never contacts a host of
another bucket, never follows a page's redirect, never asks a host before its allowed instant.

`roster.py` has the hosts, `hosts.py` knows what each has to do, `schedule.py` says when, `engine.py` runs the threads
and `dispatch.py` wakes them, `turns.py` does it, `errands.py` for robots.txt, `parsing.py` has pages read,
`discovery.py` adds what they lead to, `rows.py` writes it down.
"""

import os
from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

from crawler.core.clock import Clock
from crawler.core.config import Settings
from crawler.core.cycle import Cycle
from crawler.core.progress import Progress
from crawler.core.secrets import Secrets, resolve_secrets
from crawler.net.access import Access
from crawler.net.client import Client
from crawler.net.resolver import Resolver
from crawler.net.steady import SteadyClock
from crawler.stages.fetch.discovery import Discovery
from crawler.stages.fetch.engine import Engine
from crawler.stages.fetch.errands import Errands
from crawler.stages.fetch.memory import give_back_bodies
from crawler.stages.fetch.roster import Roster
from crawler.stages.fetch.task import Ledger, Task
from crawler.stages.fetch.turns import Turns
from crawler.store.lake import Lake
from crawler.store.ledger import FetchLedger
from crawler.store.live import LiveProgress

Watch: TypeAlias = Callable[[Progress], None]
"""Is told how far a fetch is, every two seconds and at its end."""


def run(
    lake: Lake,
    cycle: Cycle,
    bucket: int,
    progress: Watch | None = None,
    stop: Callable[[], bool] | None = None,
    secrets: Secrets | None = None,
) -> dict[str, int]:
    """Fetch what the cycle's plan of `bucket` still has open.

    progress: told how far it is; others can read it in the lake meanwhile (`store.live`). stop: asked each second
    whether to end early: the requests under way then get two seconds, and what is left stays open. secrets: what the
    settings refer to; None: looked up in the environment.
    Returns counts: planned, observed (of those), open, discovered (and observed besides), requests, wire_bytes,
    stopped, parser_restarts and one for each outcome.
    Raises NoContact, MissingSecret, NotPlanned, BucketTaken, LeaseLost, ProxyFailed.
    """
    lake.settings.require_contact()
    give_back_bodies()
    secrets = secrets or resolve_secrets(lake.settings, os.environ)
    with lake.own("bucket", bucket, cycle) as owner, LiveProgress(lake, owner) as live:

        def tell(reached: Progress) -> None:
            live.write(reached)
            if progress is not None:
                progress(reached)

        return fetch(
            FetchLedger(lake, owner),
            lake.settings,
            lake.clock,
            cycle,
            bucket,
            lake.buckets,
            progress=tell,
            stop=stop,
            secrets=secrets,
        )


def fetch(
    ledger: Ledger,
    settings: Settings,
    clock: Clock,
    cycle: Cycle,
    bucket: int,
    buckets: int,
    *,
    progress: Watch | None = None,
    stop: Callable[[], bool] | None = None,
    secrets: Secrets | None = None,
) -> dict[str, int]:
    """`run` on an open ledger."""
    access = Access(settings, secrets or resolve_secrets(settings, os.environ))
    targets = ledger.todo()
    steady = SteadyClock(clock)
    left = (ledger.deadline - steady.now()).total_seconds()
    counts: Counter[str] = Counter()
    is_stopped = False
    reached = Progress(len(targets))
    if left <= 0 or not (targets or ledger.wants()):
        ledger.finish({}, complete=True)
    else:
        resolver = Resolver(
            settings.fetch.resolve,
            settings.fetch.allow_private,
            good_seconds=settings.fetch.dns_seconds,
            bad_seconds=settings.fetch.dns_failure_seconds,
        )
        client = Client(settings.fetch, settings.crawl.user_agent, resolver, steady, access=access)
        task = Task(settings, steady, cycle, buckets, bucket, client, resolver, steady.monotonic() + left)
        roster = Roster(ledger, task)
        frontier = ledger.frontier()
        discovery = Discovery(task, frontier) if frontier else None
        engine = Engine(ledger, task, roster, discovery, progress=progress, stop=stop)
        errands = Errands(task, engine, ledger)
        turns = Turns(task, engine, errands, needs_address=settings.politeness.address_delay_seconds > 0)
        try:
            roster.plan(targets)
            engine.run(turns.take, turns.parser, errands.serve)
        finally:
            turns.parser.close()
            client.close()
        counts, is_stopped, reached = engine.counts, engine.is_stopped, engine.snapshot()
    if progress is not None:
        progress(reached)
    open_urls = len(targets) - counts["observed"]
    ended = {"stopped": int(is_stopped), "parser_restarts": reached.parser_restarts}
    return {"planned": len(targets), "observed": 0, "discovered": 0, "open": open_urls, **ended, **counts}
