"""The product as a policy: its own SQL, in the order in which a lake's cycle runs it, on tables in memory.

What a lake keeps in files is kept in tables: the state of all pages, and the log of the cycle before. A web's weights
come as an operator's would, its fetches as observations, limits as settings. Only the network and files are left out.
"""

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from bench.freshness.simulate import Limits
from bench.freshness.web import Integers, Truths, Web
from crawler.core.clock import SystemClock
from crawler.core.config import parse_settings
from crawler.core.keys import host_key
from crawler.store import query, tables
from crawler.store.candidates import choice_parameters, keep_belief, keep_rest, score
from crawler.store.lake import Lake
from crawler.store.state import fold

# The first of a generation of evidence, so that the rule in numpy forgets at the same instants.
START = datetime(1970, 1, 1, 1, tzinfo=UTC) + timedelta(days=90 * 229)
_UNLIMITED = 10**9
_REMEMBER = Path(__file__).with_name("remember.sql").read_text(encoding="utf-8")
_TAILS = ("url", "observation", "duplicate", "mention", "robots")


class Product:
    """The product's plan of a web; a context manager, since it holds a connection and an empty lake for its settings.

    threads: of the engine. whole: fold all that a state holds, which takes twice the time; else only what a plan reads
    of checks that all succeed. A page's number is its key.
    """

    def __init__(self, web: Web, limits: Limits, *, threads: int = 1, whole: bool = False) -> None:
        self._opened = ExitStack()
        root = self._opened.enter_context(tempfile.TemporaryDirectory(prefix="recrawl-bench-"))
        settings = parse_settings(
            {
                "lake": {"root": root, "buckets": 1},
                "plan": {"budget_urls": limits.budget, "max_urls_per_host": limits.cap or _UNLIMITED},
                "politeness": {"delay_seconds": 0.0},
                "engine": {"threads": threads, "memory_limit": "1GB"},
            }
        )
        self._budget = limits.budget
        self._lake = Lake.create(settings, SystemClock())
        self._con = self._opened.enter_context(self._lake.connect())
        self._hosts = [f"host-{number}.test" for number in web.host]
        self._host_keys = [host_key(host) for host in self._hosts]
        self._open_tables(web)
        everything = np.arange(web.pages)
        self._whole = True  # the first fetch makes the state
        self._keep("tail_url", "url", self._identity(everything) | {"discovered_at": START})
        self.observe(0, everything, np.ones(web.pages, bool))
        query.view_files(self._con, "tail_url", "url", [])
        self._whole = whole

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def choose(self, cycle: int) -> Integers:
        """Plan a cycle, as the stages plan and admit would with all pages in one bucket."""
        parameters = choice_parameters(self._lake, START + timedelta(days=cycle))
        score(self._con, parameters)
        query.materialise(self._con, "ranked", "plan/ranked", parameters)
        (belief,) = query.rows(query.run(self._con, "plan/belief"))
        keep_belief(self._con, belief)
        admitted = self._con.table("ranked").filter(f"bucket_rank <= {self._budget}").project("url_key")
        pages: Integers = admitted.fetchnumpy()["url_key"].astype(np.int64)
        return pages

    def observe(self, cycle: int, pages: Integers, has_changed: Truths) -> None:
        """Log the fetches of a cycle and fold them into the state, as the next plan would."""
        now = START + timedelta(days=cycle)
        body = [number.to_bytes(4) + cycle.to_bytes(4) for number in pages.tolist()]
        found = {
            "epoch": cycle + 1,
            "outcome": "ok",
            "status": 200,
            "fetched_at": now,
            "ended_at": now,
            "sent": True,
            "stored": True,
            "body_digest": body,
            "text_digest": body,
            "content_changed": has_changed.tolist() if cycle else None,
        }
        self._keep("tail_observation", "observation", self._identity(pages) | found)
        if self._whole:
            fold(self._con)
            self._con.execute("CREATE OR REPLACE TEMP TABLE folded_page AS FROM state_page")
            self._con.execute("CREATE OR REPLACE TEMP TABLE known AS FROM folded_page")
            for view in ("base_page", "state_page", "ready_page"):
                self._con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS FROM known")
        else:
            for table in ("touched", "touched_page", "checked", "evidence"):
                query.materialise(self._con, table, f"state/{table}")
            self._con.execute(_REMEMBER, {"now": now})

    def _open_tables(self, web: Web) -> None:
        for part, table in (("page", "page"), ("host", "host_state"), ("robots", "robots")):
            query.view_files(self._con, f"base_{part}", table, [])
        for table in _TAILS:
            query.view_files(self._con, f"tail_{table}", table, [])
        query.view_files(self._con, "tail_host", "host_state", [])
        keep_rest(self._con)
        keep_belief(self._con, None)
        steering = "url_key UBIGINT, weight DOUBLE, min_interval_days DOUBLE, max_interval_days DOUBLE"
        weights = [(number, weight, None, None) for number, weight in enumerate(web.weight.tolist())]
        query.keep_rows(self._con, "steering", steering, weights)
        for table in ("reopened", "repeated_page"):
            query.keep_rows(self._con, table, "url_key UBIGINT", [])
        query.keep_rows(self._con, "forced", "url_key UBIGINT, reason VARCHAR", [])
        query.keep_rows(self._con, "noisy_host", "host_key UBIGINT, noisy BOOLEAN", [])
        query.keep_rows(self._con, "host_cap", "host_key UBIGINT, host VARCHAR, cap BIGINT", [])
        in_scope = [(number, None) for number in range(web.pages)]
        query.keep_rows(self._con, "verdict", "url_key UBIGINT, rejected_by VARCHAR", in_scope)

    def _identity(self, pages: Integers) -> dict[str, Any]:
        numbers = pages.tolist()
        urls = [f"http://{self._hosts[number]}/{number}" for number in numbers]
        return {
            "url_key": numbers,
            "host_key": [self._host_keys[number] for number in numbers],
            "host": [self._hosts[number] for number in numbers],
            "url": urls,
            "fetch_url": urls,
        }

    def _keep(self, view: str, table: str, columns: Mapping[str, Any]) -> None:
        """Make `view` of rows of `table`: `columns` are lists, or one value of all rows; the rest is NULL or 0."""
        count = len(columns["url_key"])
        schema = tables.arrow_schema(table)
        arrays = []
        for field in schema:
            value = columns.get(field.name, None if field.nullable else _nothing(field.type))
            is_list = isinstance(value, list)
            arrays.append(pa.array(value, field.type) if is_list else pa.repeat(pa.scalar(value, field.type), count))
        self._con.register(f"arrow_{view}", pa.table(arrays, schema=schema))
        self._con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS FROM arrow_{view}")


def _nothing(kind: pa.DataType) -> Any:
    """The value that says least of a column that may not be NULL."""
    if pa.types.is_boolean(kind):
        return False
    if pa.types.is_string(kind):
        return ""
    if pa.types.is_date(kind):
        return START.date()
    return START if pa.types.is_timestamp(kind) else 0
