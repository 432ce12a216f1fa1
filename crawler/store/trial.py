"""The candidate table of a plan that is not made: every known URL, whether it would be fetched, and why or why not.

Reads what `plan` has left on its connection. Writes files that its caller names, never into the lake.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.csv
import pyarrow.parquet as pq

from crawler.core.errors import BadOutput
from crawler.core.model import Row
from crawler.store import query
from crawler.store.holds import held_hosts
from crawler.store.lake import Lake
from crawler.store.steering import open_share

CSV = ".csv"


def check_output(lake: Lake, path: Path) -> None:
    """Raise BadOutput unless `path` can become a new file outside the lake."""
    if path.suffix not in (CSV, ".parquet"):
        raise BadOutput(path, "ends with neither .parquet nor .csv")
    if path.resolve().is_relative_to(Path(lake.files.root).resolve()):
        raise BadOutput(path, "is inside the lake, where only its stages write")
    if path.exists():
        raise BadOutput(path, "exists already")
    if not path.absolute().parent.is_dir():
        raise BadOutput(path, "is in a folder that does not exist")


def write_standings(lake: Lake, con: duckdb.DuckDBPyConnection, bucket: int, now: datetime, path: Path) -> None:
    """Write every known URL of `bucket`, all of them scored, to `path` as the plan chosen on `con` finds it."""
    held = [(host,) for host in held_hosts(lake, bucket)]
    closed = [(host,) for host in lake.settings.host if not open_share(lake.settings, host, now)]
    query.keep_rows(con, "held_host", "host VARCHAR", held)
    query.keep_rows(con, "closed_host", "host VARCHAR", closed)
    parameters = {"bucket": bucket, "budget": lake.settings.plan.budget_urls}
    reader = query.arrow(con, "trial/standing", parameters)
    with pq.ParquetWriter(path, reader.schema) as sink:
        for batch in reader:
            sink.write_batch(batch)


def write_choice(lake: Lake, standings: Sequence[Path], limits: Mapping[str, Any], output: Path) -> list[Row]:
    """Write the candidate table to `output`, CSV if it ends so, else Parquet; returns the URLs by reason.

    limits: the cut-offs, by their names in table admitted.
    """
    con = lake.connect()
    query.view_files(con, "standing_files", "plan", [str(path) for path in standings])
    query.materialise(con, "choice", "trial/choice", limits)
    reader = query.arrow(con, "trial/ordered")
    if output.suffix == CSV:
        with pyarrow.csv.CSVWriter(output, reader.schema) as sink:
            for batch in reader:
                sink.write_batch(batch)
    else:
        with pq.ParquetWriter(output, reader.schema, compression="zstd") as sink:
            for batch in reader:
                sink.write_batch(batch)
    return query.rows(query.run(con, "trial/summary"))
