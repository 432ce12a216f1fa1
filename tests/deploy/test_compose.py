"""docker-compose.yaml and Dockerfile, as far as they can be judged without Docker."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from crawler.demo.airflow import LocalAirflow

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docker-compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
ONE_SHOT = {"migrate", "recrawl"}
AIRFLOW = sorted(name for name, service in SERVICES.items() if service["image"].startswith("recrawl:"))
VARIABLE = re.compile(r"\$\{([A-Z_]+)(:[-?][^}]*)?\}")


def variables(service: str) -> dict[str, str]:
    return dict(SERVICES[service].get("environment", {}))


def test_the_file_is_valid_by_the_compose_specification() -> None:
    schema = json.loads((ROOT / "tests/deploy/compose-spec.json").read_text())
    validator = jsonschema.Draft201909Validator(schema)
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(COMPOSE)] == []
    broken = {**COMPOSE, "services": {**SERVICES, "redis": {"imagine": "redis"}}}
    assert not validator.is_valid(broken)


def test_every_part_of_the_topology_is_there_and_two_workers() -> None:
    parts = {"postgres", "redis", "api-server", "scheduler", "dag-processor", "triggerer", "worker"}
    assert set(SERVICES) == parts | ONE_SHOT
    assert SERVICES["worker"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", sorted(set(SERVICES) - ONE_SHOT))
def test_whatever_stays_up_has_a_health_check_and_starts_again(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
    assert SERVICES[name]["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_what_a_service_waits_for_exists_and_is_waited_for_in_a_way_that_ends(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        wanted = "service_completed_successfully" if other in ONE_SHOT else "service_healthy"
        assert how["condition"] == wanted


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_nothing_runs_as_root_and_volumes_are_declared(name: str) -> None:
    user = str(SERVICES[name]["user"])
    assert not user.startswith(("0", "root"))
    for volume in SERVICES[name].get("volumes", []):
        source = volume.partition(":")[0]
        assert source in COMPOSE["volumes"] or source == "${RECRAWL_CRAWL"


def test_images_have_exact_versions_and_the_image_is_made_as_the_tests_are() -> None:
    images = [service["image"] for service in SERVICES.values()] + re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert [image for image in images if not re.search(r":\d+\.\d+(\.\d+)?", image)] == []
    assert "-c constraints.txt '.[airflow,celery,s3]'" in DOCKERFILE
    assert re.search(r"^USER [1-9]\d*$", DOCKERFILE, re.MULTILINE)


def test_what_the_dockerfile_copies_exists_and_reaches_docker() -> None:
    words = [
        line.split()[1:-1] for line in DOCKERFILE.splitlines() if line.startswith("COPY ") and "--from" not in line
    ]
    copied = {word for line in words for word in line}
    sent = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    assert copied == sent
    assert [name for name in sorted(copied) if not (ROOT / name).exists()] == []


def test_the_secrets_are_demanded_and_only_those_who_need_them_get_them() -> None:
    for name in ("api-server", "scheduler", "dag-processor", "triggerer", "migrate"):
        assert variables(name)["AIRFLOW__API_AUTH__JWT_SECRET"].startswith("${AIRFLOW_JWT_SECRET:?")
    private = {"AIRFLOW__API_AUTH__JWT_SECRET", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "AIRFLOW__CORE__FERNET_KEY"}
    assert private & set(variables("worker")) == set()
    assert [name for name in SERVICES if "AIRFLOW_ADMIN_PASSWORD" in variables(name)] == ["migrate"]


def test_the_example_of_the_environment_names_every_variable_and_gives_away_no_secret() -> None:
    example = dict(re.findall(r"^([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))
    used = dict(VARIABLE.findall(TEXT))
    assert set(example) == set(used)
    for name, default in used.items():
        assert example[name] == default.removeprefix(":-") if default.startswith(":-") else example[name] == ""
    assert ".env" in (ROOT / ".gitignore").read_text().split()


def test_the_page_is_open_to_this_machine_only_and_nothing_else_is() -> None:
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert ports == {"api-server": ["127.0.0.1:${AIRFLOW_PORT:-8080}:8080"]}


@pytest.mark.airflow
def test_every_setting_of_airflow_is_one_that_airflow_knows(tmp_path: Path) -> None:
    program = (
        "import json, sys; from airflow.configuration import conf; "
        "print('\\n' + json.dumps({section.lower(): [key.lower() for key in about['options']] "
        "for section, about in conf.configuration_description.items()}))"
    )
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    known = json.loads(said.stdout.splitlines()[-1])
    local = LocalAirflow(tmp_path, dags=tmp_path, plugins=tmp_path, pools={"one": 1}, variables={})
    named = {name for service in AIRFLOW for name in variables(service)} | set(local.environment)
    named = {name for name in named if name.startswith("AIRFLOW__")}
    places = [tuple(name.lower().split("__")[1:]) for name in sorted(named)]
    assert [place for place in places if place[1] not in known.get(place[0], [])] == []
