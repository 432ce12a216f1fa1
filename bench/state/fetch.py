"""A fetch without a web: writes what a fetch of the admitted URLs would leave at its end, as its ledger does.

Takes the plan's rows that the admission admits, owns the bucket and commits one whole file a table. It runs in
processes of its own: what it costs is not counted.
"""

from typing import Any

from bench.state import sql
from bench.state.web import Web
from crawler.core.cycle import Cycle
from crawler.store import query
from crawler.store.admission import read_admission
from crawler.store.plans import read_plan

_GROUP_ROWS = 16_384
_WHOLE = ("observation", "link", "robots", "host_state")


def run(web: Web, cycle: Cycle, bucket: int) -> dict[str, Any]:
    """Fetch a bucket; returns how many URLs were asked for and how many links they hold."""
    lake = web.open()
    con = web.connect()
    plan, admission = read_plan(lake, cycle, bucket), read_admission(lake, cycle)
    if plan is None or admission is None:
        raise SystemExit(f"bucket {bucket} is not planned")
    query.view_files(con, "plan_files", "plan", plan.paths)
    with lake.own("bucket", bucket, cycle) as owner:
        parameters = web.parameters | {
            "cycle": cycle.day,
            "bucket": bucket,
            "epoch": owner.epoch,
            "sequence": 1,
            "start": lake.clock.now(),
            "cutoff_priority": admission.cutoff_priority,
            "cutoff_url_key": admission.cutoff_url_key,
            "new_cutoff_priority": admission.new_cutoff_priority,
            "new_cutoff_url_key": admission.new_cutoff_url_key,
        }
        sql.keep(con, "observed", "observation", parameters)
        staged, rows = {}, {}
        for table in (*_WHOLE, "capture"):
            staged[table] = lake.files.staged(".parquet")
            metadata = {"complete": "true"} if table == "observation" else None
            found = (
                con.table("observed").to_arrow_reader() if table == "observation" else sql.arrow(con, table, parameters)
            )
            rows[table] = sql.write(staged[table], table, found, metadata)
        lake.commit(owner, "observation", staged, whole=_WHOLE)
    return {"bucket": bucket, "observed": rows["observation"], "links": rows["link"]}
