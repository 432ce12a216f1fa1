"""Recrawl for an Airflow of your own: `crawl_dag` makes the DAG of one settings file.

The only package that imports Airflow; `crawler` never does. Installed with the extra `recrawl[airflow]`.
"""

from recrawl_airflow.dag import OWN_POOLS, Pools, crawl_dag

__all__ = ["OWN_POOLS", "Pools", "crawl_dag"]
