"""Lakes for the page: cycles of the small web, and summaries that strangers could have caused."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from crawler.core.clock import SimulatedClock
from crawler.core.config import load_settings
from crawler.stages import check, publish, seed
from crawler.store.lake import Lake
from crawler.store.summary import SUMMARIES, Summary
from tests.store.small_cycle import CYCLES, fetch_all, fold, prepare, run_whole
from tests.store.small_web import FIRST_DAY, A, B, bucket_of_url

HOSTILE = "<script>alert('x')</script>\"'>&\u202eevil\x1b[31m"
USER_AGENT = "test/1 (+http://contact.test/)"


def settings_file(folder: Path, name: str = "recrawl.toml") -> Path:
    """Settings of a lake in `folder` with a clock of its own, at the noon of the fifth day."""
    path = folder / name
    clock = folder / f"{path.stem}-clock.json"
    path.write_text(
        f'[crawl]\nuser_agent = "{USER_AGENT}"\n[lake]\nroot = "{path.stem}-lake"\nbuckets = 2\n'
        f'[plan]\nmin_interval_days = 0\n[engine]\nthreads = 1\n[clock]\nsimulated = "{clock.name}"\n'
    )
    SimulatedClock(clock).set(FIRST_DAY + timedelta(days=4, hours=12))
    return path


class Morning:
    """A clock that the small cycles may turn."""

    def __init__(self) -> None:
        self.instant = FIRST_DAY + timedelta(hours=1)

    def now(self) -> Any:
        self.instant += timedelta(seconds=1)
        return self.instant

    def monotonic(self) -> float:
        return self.instant.timestamp()


def lake_with_gaps(settings: Path) -> Lake:
    """First cycle whole, second missed, third without one of its buckets, fourth whole."""
    lake = Lake.create(load_settings(settings), Morning())
    seed.run(lake, [f"{A}/", f"{B}/"])
    run_whole(lake, CYCLES[0])
    prepare(lake, CYCLES[2])
    fetch_all(lake, CYCLES[2], [bucket_of_url(A)])
    fold(lake, CYCLES[2])
    check.run(lake, CYCLES[2])
    publish.run(lake, CYCLES[2])
    run_whole(lake, CYCLES[3])
    return lake


def add_hostile_summary(lake: Lake, cycle: str) -> None:
    """A newest publication of `cycle` in which host, URL, title and outcome are attacks."""
    folder = f"{SUMMARIES}/cycle={cycle}"
    name = lake.files.names(folder)[-1]
    fields: dict[str, Any] = {
        field: getattr(Summary.from_json(lake.files.read(f"{folder}/{name}"), name), field)
        for field in Summary.__slots__
    }
    fields["number"] += 1
    fields["created_at"] = (FIRST_DAY + timedelta(days=4)).isoformat()
    fields["hosts"][0]["host"] = f"host{HOSTILE}"
    fields["politeness"] |= {"violations": 1, "earliest_host": f"early{HOSTILE}"}
    fields["outcomes"] = [{"outcome": "ok", "observations": 1, "example": f"http://example/{HOSTILE}"}]
    fields["changed"] = [
        {"url": f"http://changed/{HOSTILE}", "title": f"title{HOSTILE}", "fetched_at": fields["created_at"]}
    ]
    lake.files.create_bytes(Summary(**fields).to_json(), f"{folder}/{fields['number']:04d}.json")
