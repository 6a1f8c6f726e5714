"""A reranker changes the order of the first fifty, or, where it fails in any way, nothing."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from integration.tools.conftest import serving_app
from memory_world import Numbered, Ticking
from public_formats import examples
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from unit.retrieval.onnx_bytes import cross_encoder

from dcf.personal_form import PersonalSetting
from dcf.retrieval import (
    Answered,
    Candidate,
    ContextQuestion,
    NewItem,
    Projects,
    Reranker,
    RerankerFailed,
    RerankerSetting,
    Retrieval,
    Scored,
    VolatileItems,
    reranked,
)
from dcf.retrieval.serving import AccessLimits, create_app
from dcf.tools.serving import Guard, open_socket

SHOP = "/work/shop"
TEXTS = ("the parser of headers fails", "a parser", "the headers of a parser")
QUERY = "parser headers"
Answer = Callable[[dict[str, Any]], Response | Awaitable[Response]]
Serve = Callable[[Answer], AbstractAsyncContextManager[str]]


@pytest.fixture
def serve() -> Serve:
    """A real service on a free port, which answers what it is told to; its URL."""

    @asynccontextmanager
    async def served(answer: Answer) -> AsyncIterator[str]:
        async def rerank(request: Request) -> Response:
            body = {**await request.json(), "headers": dict(request.headers)}
            given = answer(body)
            return given if isinstance(given, Response) else await given

        app = Starlette(routes=[Route("/rerank", rerank, methods=["POST"])])
        async with serving_app(app) as url:
            yield f"{url}/rerank"

    return served


def results(scores: Sequence[float]) -> dict[str, Any]:
    """As the services answer: the best first."""
    best = sorted(enumerate(scores), key=lambda one: -one[1])
    return {"results": [{"index": index, "relevance_score": one} for index, one in best]}


def reranker_at(where: str, **more: str) -> Reranker:
    env = {f"DCF_RERANKER{name}": value for name, value in more.items()}
    setting, problems = RerankerSetting.from_env({"DCF_RERANKER": where, **env})
    assert problems == []
    found = setting.reranker(PersonalSetting(rules=("email",)))
    assert found is not None
    return found


async def asked(
    reranker: Reranker | None, texts: Sequence[str] = TEXTS, query: str = QUERY, **more: Any
) -> Answered:
    clock = Ticking()
    retrieval = Retrieval(VolatileItems(clock, Numbered()), None, clock, reranker=reranker)
    for text in texts:
        await retrieval.log(SHOP, NewItem(text))
    return await retrieval.context(ContextQuestion(SHOP, query, **more))


def told(answered: Answered) -> list[str]:
    return [one.candidate.text for one in answered.found]


async def test_a_service_decides_the_order_and_says_so(serve: Serve) -> None:
    bodies: list[dict[str, Any]] = []

    def longest_last(body: dict[str, Any]) -> Response:
        bodies.append(body)
        return JSONResponse(results([-len(one) / 10 for one in body["documents"]]))

    before = await asked(None)
    async with serve(longest_last) as url:
        answered = await asked(reranker_at(url, _KEY="k-1", _MODEL="rerank-3"))
    (body,) = bodies
    headers = body.pop("headers")
    assert body == {
        "model": "rerank-3",
        "query": QUERY,
        "documents": told(before),
        "top_n": 3,
    }
    assert headers["authorization"] == "Bearer k-1"
    assert told(answered) == sorted(TEXTS, key=len) != told(before)
    assert answered.problems == ()
    # Scores stay those of the places, so that they may be compared with those behind the first 50.
    assert [one.score for one in answered.found] == [one.score for one in before.found]
    was = told(before).index("a parser") + 1
    assert answered.found[0].why[-1] == f"reranker -0.8000; {was}. without it"


async def test_no_secret_leaves_and_no_person_that_was_asked_for(serve: Serve) -> None:
    secret = next(each for each in examples(26) if each.maker == "GitHub")
    bodies: list[str] = []

    def even(body: dict[str, Any]) -> Response:
        bodies.append(json.dumps(body))
        return JSONResponse(results([0.5] * len(body["documents"])))

    query = f"parser {secret.text} of ann@mail.example"
    async with serve(even) as url:
        answered = await asked(reranker_at(url), query=query)
        cut = "x " * 1_990 + secret.text
        await reranker_at(url).scores("q", [cut[:4_000]])
    assert answered.problems == () and told(answered) == told(await asked(None, query=query))
    assert secret.drawn not in bodies[0] and "ann@mail" not in bodies[0]
    assert "[redacted: github token]" in bodies[0]
    assert secret.drawn[:12] not in bodies[1]


async def late(body: dict[str, Any]) -> Response:
    await asyncio.sleep(5)
    return JSONResponse(results([0.1] * len(body["documents"])))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (results([0.1, 0.2]), "each of 3 texts once"),
        (results([0.1, 0.2, 0.3, 0.4]), "each of 3 texts once"),
        ({"results": [{"index": 0, "relevance_score": 1.0}] * 3}, "each of 3 texts once"),
        (
            {"results": [{"index": n - 1, "relevance_score": 1.0} for n in range(3)]},
            "each of 3 texts once",
        ),
        (results([0.1, math.nan, 0.3]), "finite number"),
        (results([0.1, math.inf, 0.3]), "finite number"),
        ({"results": [{"index": 0, "relevance_score": "high"}]}, "results/0/relevance_score"),
        ({"results": [{"index": True, "relevance_score": 1.0}]}, "results/0/index"),
        ({"results": [{"index": 0}]}, "results/0/relevance_score"),
        ({"results": None}, "results"),
        ({"data": []}, "results"),
        ([1], "is none of a reranker"),
        (b"<html>", "is none of a reranker"),
        (b"\xff", "is none of a reranker"),
        (b"[" * 100_000, "is none of a reranker"),
        (b'{"results": [' + b" " * 4_200_000, "over 4,194,304 bytes"),
        (Response(status_code=500), "HTTP 500"),
        (RedirectResponse("http://127.0.0.1:9/"), "HTTP 307"),
        (late, "no answer in 0.2 s"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_what_is_no_answer_changes_nothing(serve: Serve, answer: Any, said: str) -> None:
    def given(body: dict[str, Any]) -> Response | Awaitable[Response]:
        if answer is late:
            return late(body)
        if isinstance(answer, Response):
            return answer
        raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return Response(raw, media_type="application/json")

    async with serve(given) as url:
        answered = await asked(reranker_at(url, _TIMEOUT="0.2" if answer is late else "20"))
    before = await asked(None)
    assert answered.found == before.found
    (problem,) = answered.problems
    assert said in problem.message and problem.severity == "warning"
    assert problem.code == "retrieval_reranker"


async def test_a_service_that_is_away_is_a_warning_over_http() -> None:
    with open_socket("127.0.0.1", 0) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/rerank?token=hidden"
    clock = Ticking()
    items = VolatileItems(clock, Numbered())
    retrieval = Retrieval(items, None, clock, reranker=reranker_at(url))
    app = create_app(retrieval, Projects((SHOP,)), Guard(), AccessLimits())
    transport = httpx2.ASGITransport(app, client=("127.0.0.1", 4321))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        await client.post("/log", json={"text": TEXTS[0]})
        answer = await client.post("/augmented-context", json={"query": QUERY})
    assert answer.status_code == 200
    body = answer.json()
    assert [one["text"] for one in body["context"]] == [TEXTS[0]]
    (warning,) = body["warnings"]
    assert "cannot be asked (ConnectError)" in warning and "hidden" not in warning
    assert "; hint: the list is in the order that it has without it" in warning


class Reversing:
    """The last of a list is the best."""

    name = "reversing"

    def __init__(self) -> None:
        self.counts: list[int] = []

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.counts.append(len(texts))
        return [float(place) for place in range(len(texts))]


async def test_only_the_first_fifty_are_judged() -> None:
    ranked = [
        Scored(Candidate("memory", n, f"text {n}", "dcf://memory/1", "", {}), 1 - n / 100, ())
        for n in range(60)
    ]
    judge = Reversing()
    found, problems = await reranked(judge, QUERY, ranked)
    assert (judge.counts, problems) == ([50], ())
    assert [one.candidate.place for one in found] == [*range(49, -1, -1), *range(50, 60)]
    assert [one.score for one in found] == [one.score for one in ranked]
    assert (await reranked(judge, QUERY, [])) == ([], ())


async def test_the_formula_of_the_guide_is_not_judged() -> None:
    judge = Reversing()
    answered = await asked(judge, mode="guide")
    assert judge.counts == [] and answered.found == (await asked(None, mode="guide")).found


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A cross-encoder that sums the numbers of the words, those of the text twice; a token of
    padding that counted would show."""
    words = {"[PAD]": 1_000, "[UNK]": 0, "parser": 1, "headers": 2, "fails": 10, "the": 100}
    return cross_encoder(tmp_path / "model.onnx", words)


async def test_a_model_in_a_file_decides(model: Path) -> None:
    judge = reranker_at(str(model))
    texts = ["fails", "the parser of headers fails", "unknown", "parser " * 600]
    assert await judge.scores("parser headers", texts) == [
        3 + 2 * 10,
        3 + 2 * (100 + 1 + 2 + 10),
        3,
        # 512 tokens: two of the query, 510 of the text.
        3 + 2 * 510,
    ]
    answered = await asked(judge)
    # 3 + 2 * (100 + 1 + 2 + 10), 3 + 2 * (100 + 2 + 1), 3 + 2 * 1.
    assert told(answered) == [TEXTS[0], TEXTS[2], TEXTS[1]]
    assert [one.why[-1].split(";")[0] for one in answered.found] == [
        "reranker 229.0000",
        "reranker 209.0000",
        "reranker 5.0000",
    ]
    assert answered.problems == ()


async def test_a_model_that_cannot_judge_changes_nothing(model: Path, tmp_path: Path) -> None:
    before = await asked(None)
    slow = reranker_at(str(model), _TIMEOUT="1e-9")
    model.with_name("other.onnx").write_bytes(b"no model")
    broken = reranker_at(str(model.with_name("other.onnx")))
    strange = cross_encoder(tmp_path / "strange" / "m.onnx", {"[UNK]": 0}, ids_name="pixels")
    wide = cross_encoder(tmp_path / "wide" / "m.onnx", {"[UNK]": 0}, sums=False)
    for judge, said in (
        (slow, "longer than 1e-09 s"),
        (broken, "other.onnx"),
        (reranker_at(str(strange)), "it asks for pixels"),
        (reranker_at(str(wide)), "numbers for 3 pairs"),
    ):
        answered = await asked(judge)
        assert answered.found == before.found
        (problem,) = answered.problems
        assert said in problem.message


async def test_the_tokenizer_that_is_no_longer_there_is_a_warning(model: Path) -> None:
    judge = reranker_at(str(model))
    model.with_name("tokenizer.json").unlink()
    with pytest.raises(RerankerFailed, match=r"model\.onnx is not used"):
        await judge.scores("q", ["a"])


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"DCF_RERANKER": "/nowhere/model.onnx"}, "/nowhere/model.onnx is no file"),
        ({"DCF_RERANKER": __file__}, "there is no "),
        ({"DCF_RERANKER": "http://rerank.example.com/"}, "unencrypted"),
        ({"DCF_RERANKER": "http://192.168.1.7/rerank"}, "unencrypted"),
        ({"DCF_RERANKER": "https://u:p@rerank.example.com/"}, "has a user"),
        ({"DCF_RERANKER": "https:///rerank"}, "names no host"),
        ({"DCF_RERANKER": "https://a b/"}, "names no host"),
        ({"DCF_RERANKER": "https://a:99999/"}, "is no URL"),
        ({"DCF_RERANKER": "https://[a/"}, "is no URL"),
        ({"DCF_RERANKER_TIMEOUT": "soon"}, "'soon' is no time"),
        ({"DCF_RERANKER_TIMEOUT": "0"}, "'0' is no time"),
        ({"DCF_RERANKER_TIMEOUT": "nan"}, "'nan' is no time"),
        ({"DCF_RERANKER_TIMEOUT": "601"}, "'601' is no time"),
    ],
)
def test_what_cannot_be_used_is_said(env: dict[str, str], said: str) -> None:
    _, problems = RerankerSetting.from_env(env)
    assert len(problems) == 1 and said in problems[0].message and problems[0].hint
    assert problems[0].file in env


def test_without_a_setting_there_is_none() -> None:
    setting, problems = RerankerSetting.from_env({})
    assert (setting.reranker(PersonalSetting()), problems) == (None, [])
    keyed, _ = RerankerSetting.from_env({"DCF_RERANKER_KEY": "k-1"})
    assert "k-1" not in repr(keyed)
