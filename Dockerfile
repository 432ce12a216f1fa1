# Recrawl and the Airflow that runs it, for docker-compose.yaml. The versions are those of constraints.txt.
FROM python:3.12.10-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY crawler crawler
COPY recrawl_airflow recrawl_airflow
COPY sql sql
RUN python -m venv /opt/recrawl \
    && /opt/recrawl/bin/pip install --no-cache-dir --disable-pip-version-check -c constraints.txt '.[airflow,celery,s3]'

FROM python:3.12.10-slim-bookworm
# Group 0 owns what is written to, so that any user (compose: RECRAWL_UID) may run this.
RUN useradd --uid 50000 --gid 0 --home-dir /opt/airflow --no-create-home --shell /usr/sbin/nologin recrawl \
    && install -d -o 50000 -g 0 -m 0775 /opt/airflow /opt/airflow/auth /opt/airflow/logs /crawl
COPY --from=build /opt/recrawl /opt/recrawl
COPY dags /opt/airflow/dags
COPY plugins /opt/airflow/plugins
# USER and HOME are for users without an entry in the image's passwd.
ENV PATH=/opt/recrawl/bin:$PATH AIRFLOW_HOME=/opt/airflow HOME=/opt/airflow USER=recrawl PYTHONUNBUFFERED=1
WORKDIR /opt/airflow
USER 50000
CMD ["airflow", "version"]
