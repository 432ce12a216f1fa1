"""Recrawl for an Airflow of your own: `crawl_dag` makes the DAG of one settings file, `upkeep_dag` that of its upkeep.

The only package that imports Airflow; `crawler` never does. Installed with the extra `recrawl[airflow]`.
"""

from recrawl_airflow.dag import OWN_POOLS, Pools, crawl_dag
from recrawl_airflow.upkeep import upkeep_dag

__all__ = ["OWN_POOLS", "Pools", "crawl_dag", "upkeep_dag"]
