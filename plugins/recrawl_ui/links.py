"""Where the page stands in Airflow's UI. Pure; imports nothing."""

from typing import Any
from urllib.parse import urlsplit

PREFIX = "/recrawl"


def places(base_url: str) -> list[dict[str, Any]]:
    """The entry in the navigation and the tab on a DAG, for an Airflow that is reached at `base_url`."""
    root = urlsplit(base_url).path.rstrip("/") + PREFIX
    return [
        {
            "name": "Recrawl",
            "href": f"{root}/",  # without the slash Airflow answers with its own UI
            "destination": "nav",
            "category": "browse",
            "url_route": "recrawl",
        },
        {"name": "Crawl", "href": f"{root}/dag/{{DAG_ID}}", "destination": "dag", "url_route": "recrawl_dag"},
    ]
