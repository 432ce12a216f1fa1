"""Recrawl in an Airflow that it did not set up: the installed wheel, and three lines for each settings file."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.dags.support import DAGS, USER_AGENT

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.xdist_group("dag")]

ROOT = DAGS.parent
DAG_FILE = """\
from recrawl_airflow import crawl_dag

dag = crawl_dag({name!r}, {settings!r})
"""
# Runs in the other Airflow's Python, which knows nothing of this repository.
RUN = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path

import crawler, recrawl_airflow
from airflow.dag_processing.dagbag import BundleDagBag

folder = Path(sys.argv[1])
bag = BundleDagBag(dag_folder=str(folder), bundle_path=folder, bundle_name="dags-folder", safe_mode=True)
run = bag.dags["news"].test(logical_date=datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0))
told = {
    "crawler": crawler.__file__,
    "recrawl_airflow": recrawl_airflow.__file__,
    "errors": bag.import_errors,
    "files": {name: Path(dag.fileloc).name for name, dag in bag.dags.items()},
    "pools": sorted({task.pool for dag in bag.dags.values() for task in dag.tasks}),
    "state": str(run.state),
}
Path(sys.argv[2]).write_text(json.dumps(told))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages that holds Recrawl as its wheel installs it."""
    folder = tmp_path_factory.mktemp("foreign")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*uv, "--python", sys.executable, "--target", str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """A site of one page on loopback."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web/index.html").write_text("<title>News</title><p>Nothing happened today.")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "web")))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_the_installed_package_and_three_lines_run_a_crawl_each_in_any_airflow(
    site: Path, web: str, tmp_path: Path
) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(site),
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }
    python = [sys.executable, "-P"]

    def run(*command: str) -> None:
        ended = subprocess.run(
            [*python, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr

    recrawl = ("-c", "from crawler.cli import main; main()")
    dags = tmp_path / "airflow/dags"
    dags.mkdir(parents=True)
    for name in ("news", "docs"):
        settings = tmp_path / name / "recrawl.toml"
        settings.parent.mkdir()
        settings.write_text(
            f'[crawl]\nuser_agent = "{USER_AGENT}"\n[lake]\nbuckets = 1\n'
            '[fetch]\nallow_private = ["127.0.0.0/8"]\n[politeness]\ndelay_seconds = 0.01\n'
        )
        run(*recrawl, "init", str(settings.parent))
        run(*recrawl, "seed", "--settings", str(settings), web)
        (dags / f"{name}.py").write_text(DAG_FILE.format(name=name, settings=str(settings)))
    run("-m", "airflow", "db", "migrate")
    run("-c", RUN, str(dags), str(tmp_path / "told.json"))

    told = json.loads((tmp_path / "told.json").read_text())
    assert Path(told["crawler"]).is_relative_to(site)
    assert Path(told["recrawl_airflow"]).is_relative_to(site)
    assert told["errors"] == {}
    assert told["files"] == {"news": "news.py", "docs": "docs.py"}
    assert told["pools"] == ["default_pool"]
    assert told["state"] == "success"
    run(*recrawl, "sql", "--settings", str(tmp_path / "news/recrawl.toml"), "-c", "select 1 / count(*) from page")


def test_the_lowest_airflow_that_is_allowed_is_the_one_that_is_tested() -> None:
    allowed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["airflow"]
    (tested,) = re.findall(r"^apache-airflow==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert allowed == [f"apache-airflow>={tested},<3.4"]


def test_a_settings_path_that_depends_on_the_folder_of_a_worker_is_refused(airflow_home: Path) -> None:
    from recrawl_airflow import crawl_dag

    with pytest.raises(ValueError, match="expected an absolute path"):
        crawl_dag("news", "news/recrawl.toml")
