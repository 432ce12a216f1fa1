"""Routes of the page, behind Airflow's login and its permission to read the DAG of the crawl.

Airflow does not guard the apps of plugins: every route here depends on `get_user`, pages of a crawl on the right to
read its DAG besides. All answers are GET and change nothing.
"""

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from airflow.api_fastapi.core_api.security import GetUserDep, get_user, requires_access_dag
from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from recrawl_ui import airflow_state

STATIC = Path(__file__).with_name("static")
# By the name in the address; nothing else is served.
FILES = {path.name: path for path in STATIC.rglob("*") if path.suffix in (".css", ".js")}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
DagId = Annotated[str, InPath(max_length=250)]


def make_app() -> FastAPI:
    """The app that Airflow's api-server mounts."""
    app = FastAPI(dependencies=[Depends(get_user)], docs_url=None, redoc_url=None, openapi_url=None)
    readable = [Depends(requires_access_dag(method="GET"))]

    @app.get("/")
    def index(user: GetUserDep) -> Response:
        crawls = airflow_state.crawls(user)
        if not crawls:
            return _html("notice.html", {"title": "No crawl", "notice": NO_CRAWL}, to_static="static")
        return RedirectResponse(f"dag/{quote(crawls[0], safe='')}", status_code=303, headers=HEADERS)

    @app.get("/dag/{dag_id}", dependencies=readable)
    def crawl(dag_id: DagId, user: GetUserDep) -> Response:
        crawls = airflow_state.crawls(user)
        if dag_id not in crawls:
            return _html("notice.html", {"title": dag_id, "notice": OTHER_DAG}, to_static="../static")
        return _page("page.html", dag_id, crawls)

    @app.get("/dag/{dag_id}/progress", dependencies=readable)
    def progress(dag_id: DagId, user: GetUserDep) -> Response:
        if dag_id not in airflow_state.crawls(user):
            raise HTTPException(404)
        return _page("progress.html", dag_id, [])

    @app.get("/static/{name}")
    def static(name: str, request: Request) -> Response:
        if name not in FILES:
            raise HTTPException(404)
        return FileResponse(FILES[name], headers={**HEADERS, "Cache-Control": "private, max-age=3600"})

    return app


NO_CRAWL = "You can read no DAG that runs a crawl. Such DAGs carry the tag recrawl."
OTHER_DAG = "This DAG runs no crawl: it does not carry the tag recrawl."


def _page(template: str, dag_id: str, crawls: list[str]) -> Response:
    """The crawl of a DAG as it stands now, or what keeps us from showing it."""
    from crawler.core.errors import RecrawlError
    from recrawl_ui import view

    try:
        shown = view.look(dag_id, airflow_state.settings_path(dag_id), airflow_state.active_runs(dag_id))
    except (RecrawlError, view.TookTooLong) as error:
        return _html("notice.html", {"title": dag_id, "notice": str(error)}, to_static="../static", status=503)
    return _html(template, {"view": shown, "crawls": crawls}, to_static="../static")


def _html(template: str, values: dict[str, object], *, to_static: str, status: int = 200) -> HTMLResponse:
    from recrawl_ui.render import render

    return HTMLResponse(render(template, static=to_static, **values), status_code=status, headers=HEADERS)
