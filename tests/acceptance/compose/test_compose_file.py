"""compose.yaml: by the schema of Compose, closed to other machines, without a secret of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from compose_file import FILE, ROOT, Missing, Service, services, variables

SECRETS = {name: name.lower() * 3 for name in variables()}
EVERY = services(SECRETS)
OURS = [service for service in EVERY.values() if service.is_ours]
_PORTS = {
    "redis": 6379,
    "falkordb": 8379,
    "dcf-mcp": 8337,
    "stub-mcp": 8765,
    "graphiti-mcp": 8000,
    "retrieval": 3030,
    "letta": 8283,
}
_HEADING = "# For compose.yaml"

each = pytest.mark.parametrize("service", EVERY.values(), ids=lambda service: service.name)
each_of_ours = pytest.mark.parametrize("service", OURS, ids=lambda service: service.name)


def _example() -> tuple[set[str], dict[str, str]]:
    """The names in .env.example, and what its part for Compose assigns."""
    text = (ROOT / ".env.example").read_text("utf-8")
    _, found, part = text.partition(_HEADING)
    assert found, f"no line {_HEADING!r}"
    assigned = re.findall(r"^(#?)([A-Z_]+)=(.*)$", part, re.MULTILINE)
    return set(re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE)), {
        name: "optional" if mark else value for mark, name, value in assigned
    }


def test_the_file_fits_the_schema_of_compose() -> None:
    checked = subprocess.run(
        [
            Path(sys.executable).parent / "check-jsonschema",
            *("--builtin-schema", "vendor.compose-spec", FILE),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_service_is_there_at_its_port() -> None:
    published = {
        service.name: int(port.split(":")[1])
        for service in EVERY.values()
        for port in service.ports
    }
    assert published == _PORTS
    ours = {"companions", "dcf-mcp", "graphiti-mcp", "retrieval", "stub-mcp", "worker", "skills"}
    assert {service.name for service in OURS} == ours


@each
def test_no_port_is_open_to_other_machines(service: Service) -> None:
    assert all(port.startswith("127.0.0.1:") for port in service.ports)
    assert service.raw.get("network_mode") in (None, "none")


@pytest.mark.parametrize("name", ["companions", "worker"])
def test_who_works_can_be_there_many_times(name: str) -> None:
    service = EVERY[name]
    assert not service.ports
    assert "container_name" not in service.raw and "hostname" not in service.raw
    assert "--name" not in service.command


def test_what_is_started_by_itself_needs_nothing_that_is_not() -> None:
    on_request = {service.name for service in EVERY.values() if service.profiles}
    assert on_request == {"letta"}
    started = set(EVERY) - on_request
    for name in started:
        assert set(EVERY[name].needs) <= started


@each
def test_images_name_a_version(service: Service) -> None:
    image = service.raw["image"]
    assert ":" in image and not image.endswith(":latest")


@each_of_ours
def test_our_processes_are_given_no_more_than_they_need(service: Service) -> None:
    raw = service.raw
    assert raw["read_only"] is True
    assert raw["cap_drop"] == ["ALL"]
    assert raw["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in raw and "cap_add" not in raw
    assert all(item.startswith("/tmp:") for item in raw["tmpfs"])
    # What can be written is a volume; of this machine's folders only sources are seen, to read.
    assert all(
        volume.endswith(":ro") for volume in service.volumes if volume.startswith((".", "/", "~"))
    )


@each
def test_what_runs_is_restarted_checked_and_kept_from_filling_the_disk(service: Service) -> None:
    assert service.raw["logging"]["options"] == {"max-size": "10m", "max-file": "3"}
    if service.name == "skills":
        assert service.raw["restart"] == "no"
        return
    assert service.raw["restart"] == "unless-stopped"
    assert service.health
    assert service.grace_s >= 10


@each
def test_services_are_waited_for_until_they_work(service: Service) -> None:
    for name, condition in service.needs.items():
        over = "service_completed_successfully"
        assert condition == ("service_healthy" if EVERY[name].health else over)


@each
def test_nobody_is_bound_to_a_share_of_the_machine(service: Service) -> None:
    limits = {"deploy", "cpus", "mem_limit", "mem_reservation", "cpuset", "platform"}
    assert not limits & service.raw.keys()


def test_there_is_no_default_secret() -> None:
    text = FILE.read_text("utf-8")
    for name, (how, rest) in variables().items():
        if re.search("PASSWORD|TOKEN|KEY|SECRET", name):
            assert how == ":?" or rest == "", f"{name} has a default"
    written = re.findall(r"^ *\w*(?:PASSWORD|TOKEN|KEY|AUTH|SECRET)\w*: *(.*)$", text, re.MULTILINE)
    assert written and all(value.startswith("${") for value in written)
    assert re.findall(r"--requirepass (.*)", text) == [
        "${FALKORDB_PASSWORD:?write it into .env, see .env.example}"
    ]


@pytest.mark.parametrize(
    "name", ["REDIS_PASSWORD", "FALKORDB_PASSWORD", "DCF_TOKEN", "DCF_STUB_TOKEN"]
)
def test_without_a_secret_nothing_starts_and_it_says_what_to_do(name: str) -> None:
    with pytest.raises(Missing, match=rf"{name}: write it into \.env, see \.env\.example"):
        services({**SECRETS, name: ""})


def test_the_example_of_the_environment_has_every_variable_and_no_other() -> None:
    known, for_compose = _example()
    assert set(variables()) <= known
    assert set(for_compose) <= set(variables())
    required = {name for name, (how, _) in variables().items() if how == ":?"}
    assert {name for name, value in for_compose.items() if value == ""} == required


@each
def test_passwords_are_on_no_command_line(service: Service) -> None:
    parts = [*service.command, *service.health]
    assert not any(secret in part for part in parts for secret in SECRETS.values())


@pytest.mark.parametrize(
    ("secret", "knowing"),
    [
        ("DCF_TOKEN", {"dcf-mcp", "graphiti-mcp", "retrieval"}),
        ("REDIS_PASSWORD", {"redis", "dcf-mcp", "graphiti-mcp", "worker", "companions"}),
        ("FALKORDB_PASSWORD", {"falkordb", "dcf-mcp", "graphiti-mcp", "worker", "companions"}),
        ("DCF_STUB_TOKEN", {"stub-mcp", "dcf-mcp", "worker", "companions"}),
        ("OPENAI_API_KEY", {"graphiti-mcp", "letta"}),
    ],
)
def test_a_secret_is_known_to_those_who_need_it(secret: str, knowing: set[str]) -> None:
    """All servers of clients ask for their token, and nobody else knows it."""
    assert {
        service.name
        for service in EVERY.values()
        if any(SECRETS[secret] in value for value in service.environment.values())
    } == knowing
    tools = {service.name for service in EVERY.values() if "env_file" in service.raw}
    assert tools == {"companions", "dcf-mcp", "worker"}


def test_what_is_asked_of_the_graph_is_what_workers_write() -> None:
    urls = {EVERY[name].environment["DCF_GRAPH_URL"] for name in ("worker", "graphiti-mcp")}
    [url] = urls
    assert url == f"redis://:{SECRETS['FALKORDB_PASSWORD']}@falkordb:6379/0"
    # Their outbox is in one Redis too.
    assert (
        len({EVERY[name].environment["DCF_REDIS_URL"] for name in ("worker", "graphiti-mcp")}) == 1
    )
    assert {"redis", "falkordb"} == set(EVERY["graphiti-mcp"].needs)
