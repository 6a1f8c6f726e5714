"""``dcf sim`` as a user and as a script see it."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import pytest
from campaigns import SIMULATED, settled

from dcf.cli import main, sim
from dcf.cli.screen import Screen
from dcf.simulation import Verdict, Violation, campaign, mutants, simulate, trial
from dcf.simulation.world import OwnWorld

pytestmark = settled(*SIMULATED, "dcf/cli", "dcf_agents")


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["sim", *arguments])
    return int(str(end.value.code))


def test_a_seed_that_holds_exits_with_0_and_counts_what_happened(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _run("--seed", "3", "--steps", "50", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "ok"
    assert told["seeds"] == 1
    assert told["failed_seeds"] == []
    assert told["counts"]["runs"] >= 2
    assert told["verdicts"][0]["digest"] == simulate(3, steps=50).digest
    assert told["verdicts"][0]["replay"] == "dcf sim --seed 3 --steps 50"


def test_a_violated_guarantee_exits_with_1_and_says_how_to_replay_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Verdict(
        seed=5,
        steps=9,
        digest="0" * 64,
        virtual_s=1.0,
        counts={"runs": 2},
        violations=(Violation("fenced", "run-1", "a write [under] an old lease"),),
        trace=("the last call",),
        machines={"run-1": '{"asl": 1}'},
    )
    monkeypatch.setattr("dcf.simulation.simulate_seeds", lambda *_, **__: [broken])
    assert _run("--seed", "5") == 1
    told = capsys.readouterr().out
    for part in (
        "only the holder of the newest unexpired lease writes",
        "a write [under] an old lease",
        'machine run-1: {"asl": 1}',
        "the last call",
        "replay: dcf sim --seed 5 --steps 9",
    ):
        assert part in told


@pytest.mark.parametrize(("seeds", "jobs", "started"), [(4, 8, []), (5, 8, [2]), (99, 8, [8])])
def test_no_process_is_started_that_would_be_given_nothing(
    seeds: int, jobs: int, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def processes(jobs: int) -> AbstractContextManager[ThreadPool]:
        asked.append(jobs)
        return ThreadPool(1)

    monkeypatch.setattr(campaign, "processes", processes)
    monkeypatch.setattr(OwnWorld, "simulate", lambda _, seed, **__: seed)
    found: list[Any] = [*campaign.simulate_seeds(range(seeds), jobs=jobs)]
    assert (found, asked) == ([*range(seeds)], started)


def test_a_mutant_that_is_noticed_tells_how_and_with_which_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = next(one.name for one in mutants() if one.name.startswith("renew") and one.new == "-")
    assert _run("--sabotage", name, "--seed", "7") == 0
    told = capsys.readouterr().out
    assert f"replay: dcf sim --seed 7 --steps 2000 --sabotage {name}\n" in told
    assert "violated: " in told
    assert "1 mutant is noticed" in told


@pytest.mark.parametrize("as_json", [True, False])
def test_how_far_it_is_is_told_on_stderr_while_it_goes_on(
    as_json: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sim, "_SAY_EVERY_S", 0.001)
    told = ""
    with sim.progress(Screen(as_json=as_json), 3, "mutants", "not noticed") as tick:
        tick(False)
        tick(True)
        while "2 of 3 mutants (1 not noticed); 0 s so far\n" not in told:
            out, err = capsys.readouterr()
            told += err
            assert out == ""


def test_a_mutant_that_no_seed_runs_is_no_success(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = next(one.name for one in mutants() if one.file == "turn")
    monkeypatch.setattr(trial, "_lines", lambda *_: {})
    assert _run("--sabotage", name, "--seed", "7", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["totals"] == {"not reached": 1}
    assert told["mutants"][0]["name"] == name


@pytest.mark.parametrize(
    ("seeds", "message", "hint"),
    [
        ("0:1", "1 of 1 mutant is not noticed under this seed; 200 are looked", "longer range"),
        ("0:5", "1 of 1 mutant is not noticed under these 5 seeds; 200 are looked", "longer range"),
        ("0:200", "1 of 1 mutant is not as expected", "add the guarantee that is missing"),
    ],
)
def test_a_guarantee_is_missing_only_where_enough_seeds_were_looked_through(
    seeds: str,
    message: str,
    hint: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = next(one.name for one in mutants() if one.file == "turn")
    monkeypatch.setattr(trial, "_lines", lambda *_: {})
    assert _run("--sabotage", name, "--seeds", seeds, "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert message in error["message"]
    assert hint in error["hint"]


@pytest.mark.parametrize(("name", "near"), [("nosuch", ""), ("renw", "close to it: renew")])
def test_a_name_of_no_mutant_is_answered_with_names(
    name: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run("--sabotage", name) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert near in told
    assert "names begin with a script: " in told
    assert "renew, " in told
    assert "--sabotage all" not in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["--sabotage", "nothing"],
        ["--sabotage", ""],
        ["--seeds", "7:3"],
        ["--seeds", "seven"],
        ["--seeds", "0:" + "9" * 5_000],
        ["--seed", "1", "--seeds", "0:2"],
        ["--seed", "-1"],
        ["--steps", "0"],
        ["--jobs", "0"],
        ["--unknown"],
    ],
)
def test_bad_usage_exits_with_2(arguments: list[str]) -> None:
    assert _run(*arguments) == 2


def test_nothing_is_written_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run("--seed", "1", "--steps", "20") == 0
    assert list(tmp_path.iterdir()) == []
