"""Open runs whose JSONata an earlier version evaluates: who does not start, and who tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from unit.workflow.stage import document_of, flow, passing

from control_plane import RedisBackend, Store
from dcf.cli.doctor import examine
from dcf.cli.settings import Settings
from dcf.sessions.companions import HostConfig, serve_companions
from dcf.worker import Post, serve
from dcf.workflow import EarlierRuns, submission, submit

RUN = "run-of-before"


@pytest.fixture
async def store(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    """Where such a run is open."""
    backend = RedisBackend.from_url(redis_url)
    store = Store(backend)
    document = document_of({**flow(A=passing()), "QueryLanguage": "JSONata"})
    with monkeypatch.context() as patch:
        patch.setattr(submission, "EXPRESSION_PROTOCOL", 2)
        await submit(store, document, {}, workflow_id=RUN)
    yield store
    await backend.close()


def _post(redis_url: str) -> Post:
    return Post(redis_url=redis_url, name="w", env={"DCF_GRAPH": "off"})


async def _row(redis_url: str, home: Path) -> list[dict[str, Any]]:
    answer = await examine(Settings.from_env({"DCF_HOME": str(home), "DCF_REDIS_URL": redis_url}))
    return [check for check in answer.fields["checks"] if check["name"] == "runs of before"]


async def test_neither_worker_nor_companion_host_starts(store: Store, redis_url: str) -> None:
    with pytest.raises(EarlierRuns, match=RUN):
        await serve(_post(redis_url), on_ready=_never)
    with pytest.raises(EarlierRuns, match=RUN):
        await serve_companions(_post(redis_url), HostConfig(1), on_ready=_never)


async def test_the_doctor_names_them_until_they_are_over(
    store: Store, redis_url: str, tmp_path: Path
) -> None:
    [row] = await _row(redis_url, tmp_path)
    assert (row["ok"], row["required"], row["found"]) == (False, True, RUN)
    assert "dcf cancel" in row["hint"]

    await store.cancel(RUN, by="me")

    assert await _row(redis_url, tmp_path) == []


def _never() -> None:
    raise AssertionError("it is not ready")
