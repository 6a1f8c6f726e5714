"""``dcf sim --workflow`` as a user and as a script see it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcf.cli import main
from dcf.simulation import mutants

Sim = Callable[..., tuple[int, str, str]]

CAUGHT = [{"ErrorEquals": ["States.Timeout"], "Next": "Refund"}]
ORDER: dict[str, Any] = {
    "StartAt": "Pay",
    "States": {
        "Pay": {
            "Type": "Task", "Resource": "bank:pay", "TimeoutSeconds": 5, "Catch": CAUGHT,
            "Next": "Ship",
        },
        "Ship": {"Type": "Task", "Resource": "ship", "End": True},
        "Refund": {"Type": "Task", "Resource": "refund", "End": True},
    },
}  # fmt: skip
MOCKS = """\
states:
  Pay: {return: {ok: true}, after: 3}
  Ship: {return: sent}
  Refund: {return: back}
"""
ONE_OF_BOTH = "$count($distinct($calls[state = 'Ship' or state = 'Refund'].key)) = 1"


@pytest.fixture
def sim(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sim:
    """In a folder with a workflow and its mocks."""
    monkeypatch.chdir(tmp_path)
    Path("order.asl.json").write_text(json.dumps(ORDER, indent=1))
    Path("mocks.yaml").write_text(MOCKS)

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["sim", *map(str, arguments)])
        told = capsys.readouterr()
        return int(str(end.value.code)), told.out, told.err

    return run


ABOUT = ("--workflow", "order.asl.json", "--mocks", "mocks.yaml")


def test_what_holds_exits_with_0_and_says_what_was_compared(sim: Sim) -> None:
    code, out, err = sim(*ABOUT, "--seeds", "0:4", "--jobs", 1, "--invariant", ONE_OF_BOTH)
    assert code == 0
    assert "error" not in err
    assert "Every guarantee held in 4 seeds." in out
    assert "The interpreter says: succeeded." in out
    assert "sessions" not in out  # nothing that did not happen


def test_scripts_get_counts_and_what_the_interpreter_says(sim: Sim) -> None:
    code, out, _ = sim(*ABOUT, "--seed", 3, "--json", "--invariant", ONE_OF_BOTH)
    told = json.loads(out)
    assert (code, told["status"], told["seeds"]) == (0, "ok", 1)
    assert told["expected"] == {
        "status": "succeeded", "output": "sent", "error": None, "cause": None, "undecided": [],
    }  # fmt: skip
    assert told["invariants"] == {ONE_OF_BOTH: ONE_OF_BOTH}
    assert told["counts"]["runs"] == 1


def test_what_is_violated_exits_with_1_and_can_be_repeated(sim: Sim) -> None:
    Path("rules.json").write_text('{"always shipped": "$output = \'sent\'"}')
    rules = ("--invariants", "rules.json")
    code, out, _ = sim(*ABOUT, *rules, "--seeds", "0:20", "--jobs", 1)

    assert code == 1
    assert "always shipped: it is false" in out
    assert "the history of the run" in out
    assert "LeaseRevoked" in out
    [replay, *_] = [line for line in out.splitlines() if line.startswith("replay: ")]
    words = shlex.split(replay.removeprefix("replay: dcf sim "))
    assert words[:6] == [*ABOUT, *rules]
    again, out, _ = sim(*words)
    assert again == 1
    assert "always shipped: it is false" in out


def test_mocks_can_be_given_as_json_and_are_in_what_repeats_it(sim: Sim) -> None:
    mocks = '{"resources": {"*": {"return": "late"}}}'
    about = ("--workflow", "order.asl.json", "--mocks", mocks)
    code, out, _ = sim(*about, "--seed", 1, "--invariant", "$output = 'sent'")
    [replay] = [line for line in out.splitlines() if line.startswith("replay: ")]
    assert code == 1
    assert shlex.split(replay.removeprefix("replay: dcf sim "))[:4] == [*about]


def test_every_mistake_is_told_at_once_each_with_its_place(sim: Sim) -> None:
    Path("rules.yaml").write_text("fine: $status = 'x'\nhalf: $output.\nlist: [1]\n")
    Path("mocks.yaml").write_text("states:\n  Pya: {return: 1}\n")
    code, out, _ = sim(
        *ABOUT, "--json", "--input", '{"a": }', "--invariants", "rules.yaml",
        "--invariant", "$stauts = 1", "--invariant", "status = 1", "--objects", "nowhere",
    )  # fmt: skip
    found = [(one["code"], one["file"], one["line"]) for one in json.loads(out)["problems"]]
    assert code == 2
    assert found == [
        ("ASL_JSON_SYNTAX", "--input", 1),
        ("ASL_MOCK_STATE", "mocks.yaml", 2),
        ("ASL_INVARIANT", "--invariant", None),
        ("ASL_INVARIANT", "--invariant", None),
        ("ASL_INVARIANT", "rules.yaml", 2),
        ("ASL_INVARIANT", "rules.yaml", 3),
        ("CLI_FILE", "nowhere", None),
    ]
    hints = " ".join(one["hint"] for one in json.loads(out)["problems"])
    assert "did you mean `$status`?" in hints
    assert "write `$status`" in hints


def test_a_machine_that_is_wrong_is_told_as_validate_tells_it(sim: Sim) -> None:
    Path("order.asl.json").write_text(json.dumps(ORDER).replace('"Next": "Ship"', '"Next": "Shop"'))
    code, _, err = sim(*ABOUT)
    assert code == 2
    assert "there is no state `Shop`" in err


def test_every_task_without_a_mock_is_told_where_it_stands(sim: Sim) -> None:
    code, out, _ = sim("--workflow", "order.asl.json", "--json")
    problems = json.loads(out)["problems"]
    assert code == 2
    assert [one["path"] for one in problems] == ["/States/Pay", "/States/Ship", "/States/Refund"]
    assert all(one["line"] > 1 for one in problems)
    assert '{"states": {"Pay": {"return": {}}}}' in problems[0]["hint"]


def test_a_task_of_an_agent_has_no_resource_and_is_mocked_by_its_name(sim: Sim) -> None:
    definition = json.loads(json.dumps(ORDER))
    bound = {"agent_template_ref": {"name": "any"}, "skills": []}
    del definition["States"]["Ship"]["Resource"]
    definition["States"]["Ship"]["AgentBinding"] = bound
    Path("order.asl.json").write_text(json.dumps(definition))
    assert sim(*ABOUT, "--seeds", "0:2", "--jobs", 1)[0] == 0
    Path("any.json").write_text('{"resources": {"*": {"echo": true}}}')
    code, _, err = sim("--workflow", "order.asl.json", "--mocks", "any.json")
    assert code == 2
    assert "nothing is mocked for the Task `Ship` [ASL_MOCK_MISSING]" in err


def test_a_task_that_only_a_fault_leads_to_needs_a_mock_too(sim: Sim) -> None:
    Path("mocks.yaml").write_text("\n".join(MOCKS.splitlines()[:-1]))
    code, _, err = sim(*ABOUT, "--seeds", "0:20", "--jobs", 1)
    assert code == 2
    assert "nothing is mocked for the Task `Refund`" in err
    assert "a fault leads there under seed" in err


def test_a_machine_that_never_ends_is_refused(sim: Sim) -> None:
    Path("mocks.yaml").write_text(MOCKS.replace("return: sent", "never: true"))
    code, _, err = sim(*ABOUT)
    assert code == 2
    assert "order.asl.json: error: the execution never ends" in err
    assert "give the Task that never answers TimeoutSeconds" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mocks", "mocks.yaml"),
        ("--input", "{}"),
        ("--invariant", "true"),
        ("--workflow", "nowhere.json"),
        (*ABOUT, "--seeds", "3:1"),
        (*ABOUT, "--sabotage", "nosuch"),
    ],
)
def test_bad_usage_exits_with_2(sim: Sim, arguments: tuple[str, ...]) -> None:
    assert sim(*arguments)[0] == 2


def test_a_broken_script_is_noticed_by_a_machine_of_the_user(sim: Sim) -> None:
    name = next(one.name for one in mutants() if one.name.startswith("commit"))
    code, out, _ = sim(*ABOUT, "--sabotage", name, "--seeds", "0:30", "--json")
    [mutant] = json.loads(out)["mutants"]
    assert code == 0
    assert mutant["status"] == "found"
    assert mutant["replay"].startswith(
        "dcf sim --workflow order.asl.json --mocks mocks.yaml --seed"
    )
