"""The page behind a real api-server: who may see it, what it answers, and that it works in a real browser."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plugins.api_server import ApiServer
from tests.plugins.browser import CHROMIUM, Browser
from tests.plugins.conftest import PLUGINS
from tests.plugins.lakes import add_hostile_summary, lake_with_gaps, settings_file
from tests.store.small_cycle import CYCLES

pytestmark = [pytest.mark.airflow, pytest.mark.slow, pytest.mark.xdist_group("plugin")]

DAYS = [str(cycle) for cycle in CYCLES]
PATHS = [
    "/recrawl/",
    "/recrawl/dag/docs",
    "/recrawl/dag/docs/progress",
    "/recrawl/dag/other",
    "/recrawl/static/page.js",
]
FRAME = "document.querySelector('iframe').contentDocument"
# As a person's click: the button has the focus, which the clipboard wants.
CLICK = (
    "(button) => { if (button.textContent != 'Copied') { button.focus(); button.click(); }"
    " return button.textContent == 'Copied'; }"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    folder = tmp_path_factory.mktemp("page")
    docs = settings_file(folder, "docs.toml")
    add_hostile_summary(lake_with_gaps(docs), DAYS[3])
    shop = settings_file(folder, "shop.toml")  # its lake was never made
    with ApiServer(folder / "airflow", docs, shop) as running:
        yield running


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_shown_without_credentials(server: ApiServer, path: str) -> None:
    answer = server.get(path)
    assert (answer.status_code, answer.json()) == (401, {"detail": "Not authenticated"})


@pytest.mark.parametrize("path", PATHS[1:])
def test_a_forged_token_is_refused(server: ApiServer, path: str) -> None:
    assert server.get(path, cookies={"_token": "forged"}).status_code in (401, 403)


def test_the_plugin_is_loaded_without_an_error_and_has_its_places(server: ApiServer) -> None:
    assert server.get("/api/v2/plugins/importErrors", "root").json()["import_errors"] == []
    plugins = {plugin["name"]: plugin for plugin in server.get("/api/v2/plugins", "root").json()["plugins"]}
    assert set(plugins) == {"recrawl"}
    assert {view["destination"] for view in plugins["recrawl"]["external_views"]} == {"nav", "dag"}


def test_the_plugin_brings_nothing_of_the_crawler_into_airflow_s_other_components(server: ApiServer) -> None:
    code = "import sys, recrawl_plugin; print(sorted({'crawler', 'duckdb', 'pyarrow'} & set(sys.modules)))"
    environment = {**server.environment, "PYTHONPATH": f"{PLUGINS}:{PLUGINS.parent}"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_viewer_sees_the_crawl_under_a_policy_that_runs_no_inline_script(server: ApiServer) -> None:
    index = server.get("/recrawl/", "looker")
    assert (index.status_code, index.headers["location"]) == (303, "dag/docs")
    answer = server.get("/recrawl/dag/docs", "looker")
    assert answer.status_code == 200
    assert "<h1>docs</h1>" in answer.text
    assert f"airflow backfill create --dag-id docs --from-date {DAYS[1]} --to-date {DAYS[2]}" in answer.text
    assert "default-src 'none'; script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert "<script>alert" not in answer.text


def test_each_dag_shows_its_own_crawl_and_a_lake_that_is_not_there_is_said(server: ApiServer) -> None:
    answer = server.get("/recrawl/dag/shop", "looker")
    assert answer.status_code == 503
    assert "shop-lake" in answer.text
    answer = server.get("/recrawl/dag/other", "looker")
    assert answer.status_code == 200
    assert "runs no crawl" in answer.text
    assert server.get("/recrawl/dag/nowhere/progress", "looker").status_code == 404


@pytest.mark.parametrize("name", ["app.py", "..%2fapp.py", "LICENSE", "page.html"])
def test_only_the_page_s_own_scripts_and_styles_are_served(server: ApiServer, name: str) -> None:
    assert server.get("/recrawl/static/page.css", "looker").headers["content-type"].startswith("text/css")
    assert server.get(f"/recrawl/static/{name}", "looker").status_code == 404


def test_a_run_that_goes_on_is_shown_with_its_tasks(server: ApiServer) -> None:
    server.trigger("docs", DAYS[1])
    answer = server.get("/recrawl/dag/docs/progress", "looker")
    assert answer.status_code == 200
    assert f"Cycle {DAYS[1]}" in answer.text
    assert "queued" in answer.text
    assert "<b>resolve_cycle</b> 0/1" in answer.text
    assert f"--from-date {DAYS[1]}" not in server.get("/recrawl/dag/docs", "looker").text


@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium (apt-get install chromium)")
def test_the_page_works_in_airflow_s_ui_in_a_browser(server: ApiServer, tmp_path: Path) -> None:
    with Browser(tmp_path / "profile") as browser:
        browser.send("Network.setCookie", name="_token", value=server.token("looker"), url=server.address)
        browser.open(f"{server.address}/plugin/recrawl")
        assert browser.wait_for(f"{FRAME}.querySelector('h1').textContent") == "docs"
        browser.wait_for(f"{FRAME}.querySelectorAll('canvas').length == 2")
        assert browser.evaluate(f"{FRAME}.querySelectorAll('td.cell.missing').length") == 2
        assert browser.evaluate(f"{FRAME}.documentElement.scrollWidth <= {FRAME}.documentElement.clientWidth")
        assert "<script>alert('x')</script>" in browser.evaluate(f"{FRAME}.body.innerText")
        # Clicked until it says so: what it says goes after two seconds, and a page that is loaded anew forgets it.
        browser.wait_for(f"({CLICK})({FRAME}.querySelector('button[data-copy]'))")
        browser.evaluate(
            f"(() => {{ const field = {FRAME}.getElementById('filter'); field.value = 'b.test';"
            " field.dispatchEvent(new Event('input')); })()"
        )
        hosts = f"[...{FRAME}.querySelectorAll('#hosts tbody tr')].filter((row) => !row.hidden).length"
        assert browser.evaluate(hosts) <= 1
        if wanted := os.environ.get("RECRAWL_PICTURE"):
            browser.picture(Path(wanted), height=1600)
        browser.open(f"{server.address}/dags/docs/plugin/recrawl_dag")
        assert browser.wait_for(f"{FRAME}.querySelector('h1').textContent") == "docs"
        assert [complaint for complaint in browser.complaints if "/recrawl/" in complaint] == []
