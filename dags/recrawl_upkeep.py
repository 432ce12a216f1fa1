"""The DAG `recrawl_upkeep`: the weekly upkeep of the lake whose settings RECRAWL_SETTINGS names."""

from recrawl_airflow import OWN_POOLS, upkeep_dag

dag = upkeep_dag("recrawl_upkeep", pools=OWN_POOLS)
