"""Every mistake gets all its problems with place and hint, an exit code, and leaves no key."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dcf_user import ROOT, Dcf, until

END = {"Type": "Pass", "End": True}
ORDERS = ROOT / "workflows" / "order-processing.json"


def asl(start: str | None = "A", **states: Any) -> dict[str, Any]:
    return ({"StartAt": start} if start else {}) | {"States": states}


def bound(**binding: Any) -> dict[str, Any]:
    return {"Type": "Task", "AgentBinding": binding, "End": True}


BROKEN = {
    "malformed JSON": ('{"StartAt": "A",, }', "ASL_JSON_SYNTAX"),
    "missing StartAt": (asl(None, A=END), "ASL_MISSING_FIELD"),
    "dangling Next": (asl(A={"Type": "Pass", "Next": "B"}), "ASL_UNKNOWN_STATE"),
    "unreachable state": (asl(A=END, B=END), "ASL_UNREACHABLE_STATE"),
    "unknown skill": (asl(A=bound(skills=["orders.ship_oder"])), "WF_UNKNOWN_SKILL"),
    "unknown tool": (
        asl(A=bound(skills=["orders.ship_order"], tool_name="book_shipment")),
        "WF_UNKNOWN_TOOL",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_workflow_starts_nothing(dcf: Dcf, name: str) -> None:
    text, code = BROKEN[name]
    file = dcf.write("broken.json", text)

    done = dcf("run", file, "--json")

    problems = done.json["problems"]
    assert (done.code, done.json["error"]["code"]) == (2, "bad_input")
    assert code in [problem["code"] for problem in problems]
    for problem in problems:
        assert problem["file"] == str(file)
        assert problem["line"] is not None
        assert problem["message"]
        assert problem["hint"]
    assert not dcf.home.exists()


def test_people_read_file_line_column_rule_and_hint(dcf: Dcf) -> None:
    file = dcf.write("broken.json", asl(A={"Type": "Pass", "Next": "B"}))

    done = dcf("run", file)

    assert done.code == 2
    assert f"{file}:1:" in done.err
    assert "[ASL_UNKNOWN_STATE]" in done.err
    assert "hint:" in done.err
    assert "Traceback" not in done.err


def test_workflow_input_and_id_are_judged_together(dcf: Dcf) -> None:
    file = dcf.write("broken.json", asl(A={"Type": "Pass", "Next": "B"}))

    done = dcf("run", file, "--input", "{,}", "--id", "not/an id", "--json")

    assert {problem["file"] for problem in done.json["problems"]} == {str(file), "--input", "--id"}


def test_input_that_violates_the_schema_names_every_place(dcf: Dcf) -> None:
    given = dcf.write("order.json", '{\n "order_id": "1001",\n "items": 3\n}')

    done = dcf("run", ORDERS, "--input", given, "--json")

    problems = done.json["problems"]
    assert done.code == 2
    assert {problem["code"] for problem in problems} == {"WF_INPUT"}
    assert {problem["path"] for problem in problems} >= {"/order_id", "/items"}
    assert {problem["line"] for problem in problems if problem["path"] == "/items"} == {3}
    assert not dcf.home.exists()


def test_a_wrong_type_in_yaml_is_placed(dcf: Dcf) -> None:
    skills = dcf.folder / "src"
    subprocess.run(["cp", "-r", str(ROOT / "skills_src"), str(skills)], check=True)
    file = skills / "skills" / "order-processing" / "ship_order.skill.yaml"
    file.write_text(file.read_text().replace("tags: [orders, shipping]", "tags: 7"))

    done = dcf("skills", "generate", "--src", skills, "--generated", dcf.folder / "out", "--json")

    [problem] = done.json["problems"]
    assert done.code == 2
    assert problem["file"].endswith("ship_order.skill.yaml")
    assert problem["line"] == 9
    assert problem["message"]
    assert problem["hint"]
    assert not (dcf.folder / "out").exists()


def test_a_stub_of_the_user_that_is_down_is_an_environment_trouble(dcf: Dcf) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    given = ROOT / "workflows" / "inputs" / "order-normal.json"

    done = dcf("run", ORDERS, "--input", given, "--json", env={"DCF_STUB_URL": url})

    assert (done.code, done.json["error"]["code"]) == (3, "stub_unavailable")
    assert url in done.json["error"]["message"]
    assert "DCF_STUB_URL" in done.json["error"]["hint"]
    assert list((dcf.home / "run").glob("stub-*.json")) == []
    assert dcf.keys() == []


@pytest.fixture
def plain_redis(short_dir: Path) -> Iterator[str]:
    """A Redis without JSON."""
    from control_plane.embedded.binaries import REDIS_SERVER, require

    path = short_dir / "plain.sock"
    process = subprocess.Popen(
        [str(require(REDIS_SERVER)[0]), "--port", "0", "--unixsocket", str(path), "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    until(path.exists, "the plain Redis")
    yield f"unix://{path}"
    process.kill()
    process.wait()


def test_a_redis_without_json_is_refused(dcf: Dcf, plain_redis: str) -> None:
    file = dcf.write("a.json", asl(A=END))

    done = dcf("run", file, "--json", env={"DCF_REDIS_URL": plain_redis})

    assert (done.code, done.json["error"]["code"]) == (3, "server_without_json")
    assert "--loadmodule" in done.json["error"]["hint"]


def test_a_redis_that_is_not_there_is_an_environment_trouble(dcf: Dcf) -> None:
    done = dcf("runs", "--json", env={"DCF_REDIS_URL": "redis://127.0.0.1:1/0"})

    assert (done.code, done.json["error"]["code"]) == (3, "server_unreachable")


@pytest.mark.parametrize("command", ["explain", "history", "watch", "cancel", "redrive"])
def test_a_run_that_does_not_exist_is_bad_input(dcf: Dcf, command: str) -> None:
    done = dcf(command, "nobody", "--json")

    assert (done.code, done.json["error"]["code"]) == (2, "unknown_run")


def test_handlers_that_cannot_be_imported_are_bad_input(dcf: Dcf) -> None:
    done = dcf("worker", "--handlers", "no_such_module:X", "--json")

    assert (done.code, done.json["problems"][0]["code"]) == (2, "CLI_HANDLERS")


def test_without_skills_plain_workflows_still_run(dcf: Dcf) -> None:
    file = dcf.write("a.json", asl(A=END))
    nowhere = {"DCF_GENERATED": str(dcf.folder / "nowhere")}

    assert dcf("run", file, env=nowhere).code == 0
