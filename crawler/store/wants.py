"""Wants: a robots.txt that redirects lead to, on a host that only the owner of another bucket may ask.

A want is one small file, `want/bucket=BBBB/day=YYYY-MM-DD/KEY.json`, created if absent in the bucket of the host to be
asked, under the day on which it was left. That bucket's owner looks for the wants of the last days when its fetch
begins and while it runs; what it learns are rows of its own table robots, which whoever left the want reads. Like a
hold a want needs no lease, since it asks nobody and claims nothing.
"""

import json
from dataclasses import asdict
from datetime import timedelta

from crawler.core.errors import CorruptLake
from crawler.core.keys import bucket_of, host_key, url_key
from crawler.core.model import RobotsAnswer, Want
from crawler.store import query
from crawler.store.lake import Lake, partition_name
from crawler.store.recent import recent_paths

WANTS = "want"
_WANTED_DAYS = 2  # before today: who has an answer from yesterday's cycle asks for none in today's
_ANSWERED = timedelta(days=1)


def leave_want(lake: Lake, want: Want) -> bool:
    """Let the owner of the wanted host's bucket know; whether it was new today."""
    name = f"{_folder(lake, bucket_of(host_key(want.host), lake.buckets))}/day={lake.clock.now().date()}"
    name = f"{name}/{url_key(want.url):016x}.json"
    return not lake.files.exists(name) and lake.files.create_bytes(json.dumps(asdict(want)).encode(), name)


def recent_wants(lake: Lake, bucket: int, known: dict[str, Want] | None = None) -> list[Want]:
    """What others want to know of hosts of `bucket`, by URL. Raises CorruptLake.

    known: what the caller keeps of one look for the next, so that no file is read twice.
    """
    today = lake.clock.now().date()
    known = {} if known is None else known
    found: dict[str, Want] = {}
    for days in range(_WANTED_DAYS, -1, -1):
        day = today - timedelta(days=days)
        folder = f"{_folder(lake, bucket)}/day={day}"
        for name in lake.files.names(folder):
            path = f"{folder}/{name}"
            if name not in known:
                known[name] = _read(lake, path)
            found[known[name].url] = known[name]
    return [want for _, want in sorted(found.items())]


def wanted_first(lake: Lake) -> list[int]:
    """All buckets, those first of whose hosts others want to know something: their answers are fresh then."""
    return sorted(range(lake.buckets), key=lambda bucket: not recent_wants(lake, bucket))


def newest_answer(lake: Lake, want: Want) -> RobotsAnswer | None:
    """What the wanted host's owner learnt at the URL and may still be used; None if it has not asked yet.

    Reads only files that can hold rows of the last 24 hours, those of a fetch that still runs included.
    """
    bucket = bucket_of(host_key(want.host), lake.buckets)
    now = lake.clock.now()
    con = lake.connect()
    paths = recent_paths(lake, "robots", bucket, lake.written("bucket", bucket), now - _ANSWERED)
    query.view_files(con, "robots_files", "robots", paths)
    found = query.rows(query.run(con, "fetch/elsewhere", {"url": want.url, "now": now}))
    answer = RobotsAnswer(**found[0]) if found else None
    is_whole = answer is not None and (answer.verdict != "rules" or answer.body is not None)
    return answer if is_whole else None


def _read(lake: Lake, path: str) -> Want:
    try:
        return Want(**json.loads(lake.files.read(path)))
    except (ValueError, TypeError) as error:
        raise CorruptLake(lake.files.path(path), f"is no want: {error}") from error


def _folder(lake: Lake, bucket: int) -> str:
    return f"{lake.layout}/{WANTS}/{partition_name('bucket', bucket)}"
