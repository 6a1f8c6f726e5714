"""Processes that answer questions: each answer goes to whoever asked, and whichever ends is
replaced."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.retrieval import NOBODY, ContextQuestion
from dcf.retrieval.errors import AnswerersFailed
from dcf.retrieval.serving import LENGTH, Answerers

# The least that answers: the query and its own number; over "end" it ends, over "slow" it takes
# its time, over "hang" more than there is. What it is told first is a Python expression that is
# false where it is to fail.
PROGRAM = """
import json, os, struct, sys, time
def read():
    head = sys.stdin.buffer.read(4)
    return sys.stdin.buffer.read(*struct.unpack(">I", head)) if head else None
def send(message):
    sys.stdout.buffer.write(struct.pack(">I", len(message)) + message)
    sys.stdout.buffer.flush()
def query(message):
    return json.loads(message)["question"]["query"]
if read() != b"True":
    sys.exit(3)
send(b"ready")
while (question := read()) is not None:
    if "texts" in json.loads(question):
        texts = json.loads(question)["texts"]
        rows = b"".join(struct.pack("<2e", len(one), 0.5) for one in texts)
        send(struct.pack(">H", 500 if "end" in texts else 200) + rows)
        continue
    if query(question) == "end":
        sys.exit(4)
    if query(question) == "hang":
        time.sleep(60)
    if query(question) == "slow":
        time.sleep(0.1)
    send(struct.pack(">H", 200) + f"{query(question)} {os.getpid()}".encode())
"""
COMMAND = (sys.executable, "-I", "-S", "-c", PROGRAM)


def answerers(
    count: int = 1,
    setting: bytes = b"True",
    on_failure: Callable[[], object] = lambda: None,
    **more: float,
) -> Answerers:
    return Answerers(COMMAND, setting, count, on_failure, **more)


async def said(asked: Answerers, query: str) -> tuple[str, int]:
    """The answer, and the number of the process that gave it."""
    response = await asked.answer(ContextQuestion("/shop", query), NOBODY)
    assert response.status_code == 200
    text, _, pid = bytes(response.body).decode().rpartition(" ")
    return text, int(pid)


async def test_each_asker_has_the_own_answer(caplog: pytest.LogCaptureFixture) -> None:
    queries = [f"question {number} ä" for number in range(40)]
    async with answerers(2) as asked:
        answers = await asyncio.gather(*(said(asked, one) for one in queries))
        slow = asyncio.gather(said(asked, "slow"), said(asked, "slow"))
        (_, one), (_, other) = await slow
    assert [text for text, _ in answers] == queries
    assert {pid for _, pid in answers} | {one, other} == {one, other} and one != other
    assert not caplog.records  # an end that is wanted is none to be told


async def test_texts_are_embedded_between_questions() -> None:
    async with answerers() as asked:
        _, vectors, _ = await asyncio.gather(
            said(asked, "slow"), asked.vectors(["a", "abc"]), said(asked, "slow")
        )
        assert vectors.tolist() == [[1.0, 0.5], [3.0, 0.5]]
        assert (await asked.vectors([])).shape == (0, 0)
        with pytest.raises(AnswerersFailed):
            await asked.vectors(["end"])


async def test_whoever_goes_away_leaves_no_answer_behind() -> None:
    async with answerers() as asked:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(said(asked, "slow"), 0.02)
        assert (await said(asked, "next"))[0] == "next"


async def test_one_that_ends_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    async with answerers() as asked:
        _, first = await said(asked, "a")
        waiting = asyncio.create_task(said(asked, "slow"))
        await asyncio.sleep(0.03)
        os.kill(first, signal.SIGKILL)
        text, second = await waiting
        assert text == "slow" and second != first
        os.kill(second, signal.SIGKILL)  # at no question
        _, third = await said(asked, "b")
        assert third not in (first, second) and asked.failure is None
    assert f"process {first}, which answered questions, ended (-9)" in caplog.text
    assert f"process {third} answers in its place" in caplog.text


async def test_a_question_that_ends_two_is_given_up() -> None:
    async with answerers() as asked:
        await said(asked, "a")
        with pytest.raises(AnswerersFailed, match="2 of them ended over this question"):
            await said(asked, "end")
        assert (await said(asked, "b"))[0] == "b"


async def test_all_of_it_ends_where_they_end_one_after_another() -> None:
    failed = asyncio.Event()
    with pytest.raises(AnswerersFailed, match="3 did, one after another"):
        async with answerers(on_failure=failed.set) as asked:
            many = [said(asked, "end") for _ in range(5)]
            found = await asyncio.gather(*many, return_exceptions=True)
            assert {type(one) for one in found} == {AnswerersFailed}
            assert failed.is_set()


async def test_all_of_it_ends_where_none_can_be_started_any_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    failed = asyncio.Event()
    with pytest.raises(AnswerersFailed, match="3 did, one after another"):
        async with Answerers((str(python), *COMMAND[1:]), b"True", 1, failed.set) as asked:
            _, first = await said(asked, "a")
            python.unlink()
            os.kill(first, signal.SIGKILL)
            with pytest.raises(AnswerersFailed):
                await asyncio.wait_for(said(asked, "b"), 10)
            assert failed.is_set()
    assert caplog.text.count("No such file or directory") == 2


async def test_none_that_starts_ends_what_another_one_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcf.retrieval.serving.answerers._AGAIN_S", 0.01)
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    failed = asyncio.Event()
    async with Answerers((str(python), *COMMAND[1:]), b"True", 2, failed.set) as asked:
        slow = await asyncio.gather(said(asked, "slow"), said(asked, "slow"))
        (_, first), (_, second) = slow
        python.unlink()
        os.kill(first, signal.SIGKILL)
        await asyncio.sleep(0.3)  # five tries that fail
        assert await said(asked, "a") == ("a", second)
        assert not failed.is_set()
        python.symlink_to(sys.executable)
        os.kill(second, signal.SIGKILL)
        assert (await asyncio.wait_for(said(asked, "b"), 10))[0] == "b"
        assert asked.failure is None


async def test_one_that_takes_too_long_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    async with answerers(patience_s=0.5) as asked:
        _, first = await said(asked, "a")
        with pytest.raises(AnswerersFailed, match="2 of them ended over this question"):
            await asyncio.wait_for(said(asked, "hang"), 10)
        assert (await said(asked, "b"))[0] == "b"
    assert f"process {first} took longer than 0.5 s" in caplog.text


async def test_none_is_there_that_does_not_start() -> None:
    with pytest.raises(AnswerersFailed, match="it did not start"):
        async with answerers(2, b"False"):
            pass


def test_a_process_whose_service_ended_ends_without_a_word(tmp_path: Path) -> None:
    env = {**os.environ, "DCF_HOME": str(tmp_path), "DCF_EMBEDDER": "none"}
    setting = pickle.dumps(RetrievalSetting.from_env(env, [tmp_path]))
    command = (sys.executable, "-P", "-m", "dcf.cli.retrieval.answerer")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.close()
        process.stdin.write(LENGTH.pack(len(setting)) + setting)
        process.stdin.flush()
        # It is ready, and nobody hears it.
        assert process.wait(60) == 0
        assert process.stderr is not None and process.stderr.read() == b""
