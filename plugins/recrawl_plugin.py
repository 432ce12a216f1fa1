"""Shows crawls in Airflow: an entry in the navigation and a tab on each DAG. Only registers what `recrawl_ui` makes.

Every component of Airflow imports this file, so it imports nothing of the crawler.
"""

from airflow.configuration import conf
from airflow.plugins_manager import AirflowPlugin
from recrawl_ui.app import make_app
from recrawl_ui.links import PREFIX, places


class RecrawlPlugin(AirflowPlugin):
    """The page and its places in Airflow's UI."""

    name = "recrawl"
    fastapi_apps = [{"app": make_app(), "url_prefix": PREFIX, "name": "recrawl"}]  # noqa: RUF012  Airflow wants it so
    external_views = places(conf.get("api", "base_url", fallback="/"))
