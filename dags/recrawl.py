"""The DAG `recrawl`: the daily cycles of the crawl whose settings RECRAWL_SETTINGS names, in pools of its own.

An Airflow that runs several crawls has a file like this for each: docs/airflow.md.
"""

from recrawl_airflow import OWN_POOLS, crawl_dag

dag = crawl_dag("recrawl", pools=OWN_POOLS)
