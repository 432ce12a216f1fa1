"""Recrawl: keeps a large set of web pages fresh, politely, on schedule.

A plain library: it never imports Airflow. `ARCHITECTURE.md` says what each package may depend on.
"""

__version__ = "0.1.0"
