"""The page of a crawl in Airflow's UI.

`app` routes and guards, `airflow_state` asks Airflow, `view` asks the lake, `render` makes HTML. Only the first two
know Airflow; imports of the crawler stand in functions, since every component of Airflow imports plugins.
"""
