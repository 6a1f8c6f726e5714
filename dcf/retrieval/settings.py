"""What the environment says of retrieval: the backend, how long items are kept, what each kind
gets of a budget, the reranker."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, Self, TypeAlias, cast, get_args
from urllib.parse import urlsplit

from dcf.age_form import read_age
from dcf.context_form import KINDS, Kind
from dcf.personal_form import PersonalSetting
from dcf.problem import Problem
from dcf.retrieval.bundle import SHARES, Share
from dcf.retrieval.cross_encoder import CrossEncoder, tokenizer_beside
from dcf.retrieval.item import Lifetimes
from dcf.retrieval.postgres_store import fault_of_url
from dcf.retrieval.reranker import Reranker
from dcf.tools.serving import is_loopback

Backend: TypeAlias = Literal["memory", "file", "sqlite", "postgres"]
_DATABASE = "DATABASE_URL"

_TTL = "DCF_RETRIEVAL_TTL"
_OTHERS = "*"

_SHARES = "DCF_BUNDLE_SHARES"
_SHARE = re.compile(r"\s*(\w+)\s*=\s*(\d{1,3})\s*-\s*(\d{1,3})\s*", re.ASCII)

_WHERE, _TIMEOUT = "DCF_RERANKER", "DCF_RERANKER_TIMEOUT"
_SCHEMES = ("http://", "https://")
_DEFAULT_S, _MOST_S = 10.0, 600.0


@dataclass(frozen=True, slots=True)
class BackendSetting:
    """``path`` is the file of the backend sqlite or the folder of the backend file, None where
    nobody names one; ``database`` the URL of the backend postgres."""

    backend: Backend = "sqlite"
    path: Path | None = None
    database: str = field(default="", repr=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> tuple[BackendSetting, tuple[Problem, ...]]:
        """From MEM_BACKEND, MEM_PATH and DATABASE_URL; with all that cannot be used."""
        problems: list[Problem] = []
        backend = env.get("MEM_BACKEND") or "sqlite"
        if backend not in get_args(Backend):
            hint = f"one of {', '.join(get_args(Backend))}"
            problems.append(_problem("MEM_BACKEND", f"{backend!r} is no backend", hint))
        database = env.get(_DATABASE) or ""
        fault = fault_of_url(database) if backend == "postgres" else None
        if fault:
            hint = "as in postgresql://USER:PASSWORD@HOST:5432/DATABASE"
            message = f"it names no database: {fault}" if database else "is not set"
            problems.append(_problem(_DATABASE, message, hint))
        path = Path(env["MEM_PATH"]) if env.get("MEM_PATH") else None
        return cls(cast("Backend", backend), path, database), tuple(problems)


def lifetimes_of(env: Mapping[str, str]) -> tuple[Lifetimes, tuple[Problem, ...]]:
    """From DCF_RETRIEVAL_TTL, as in ``runlog=30d,incident=26w,*=52w``; with all that cannot be
    used."""
    ages: dict[str, int] = {}
    problems: list[Problem] = []
    for word in filter(None, (word.strip() for word in (env.get(_TTL) or "").split(","))):
        tag, _, length = (part.strip() for part in word.rpartition("="))
        age = read_age(length)
        if not tag or not age:
            hint = (
                "a tag (* for items with no other one of these) and a whole number above 0 with m,"
                " h, d or w, as in runlog=30d,incident=26w,*=52w"
            )
            problems.append(_problem(_TTL, f"{word!r} does not say TAG=TIME", hint))
        elif tag in ages:
            problems.append(_problem(_TTL, f"{tag} is there twice", "say one time for it"))
        else:
            ages[tag] = age
    others = ages.pop(_OTHERS, None)
    return Lifetimes(ages, others), tuple(problems)


def shares_of(env: Mapping[str, str]) -> tuple[Mapping[Kind, Share], list[Problem]]:
    """The shares by kind that ``DCF_BUNDLE_SHARES`` says, those of the kinds that it does not name
    as in ``SHARES``; and all that is wrong there. ``code=10-40,memory=20-60`` is floor and ceiling
    in percent."""
    said: dict[Kind, Share] = {}
    problems: list[Problem] = []
    for word in (env.get(_SHARES) or "").split(","):
        found = _SHARE.fullmatch(word)
        if not word.strip():
            continue
        if found is None:
            hint = "as in code=10-40,memory=20-60: floor and ceiling in percent"
            problems.append(
                _problem(_SHARES, f"{word.strip()!r} does not say KIND=FLOOR-CEILING", hint)
            )
            continue
        kind = next((one for one in KINDS if one == found[1]), None)
        floor, ceiling = int(found[2]), int(found[3])
        if kind is None:
            problems.append(
                _problem(_SHARES, f"{found[1]!r} is no kind", f"one of {', '.join(KINDS)}")
            )
        elif kind in said:
            problems.append(_problem(_SHARES, f"{kind} is there twice", "say each kind once"))
        elif not floor <= ceiling <= 100:
            hint = "a floor is at most its ceiling, and that at most 100"
            problems.append(_problem(_SHARES, f"{kind} has {floor} to {ceiling} percent", hint))
        else:
            said[kind] = Share(floor, ceiling)
    shares = {**SHARES, **said}
    floors = sum(share.floor for share in shares.values())
    if floors > 100 and not problems:
        listed = ", ".join(f"{kind} {share.floor}" for kind, share in shares.items())
        problems.append(
            _problem(_SHARES, f"the floors are {floors} percent together", f"now {listed}")
        )
    return shares, problems


@dataclass(frozen=True, slots=True)
class RerankerSetting:
    """``where`` is the URL of a service, or the path of a model; empty for none. A service gets
    ``key`` as a bearer token and ``model`` as that field of its body, where they are not empty."""

    where: str = ""
    key: str = field(default="", repr=False)
    model: str = ""
    timeout_s: float = _DEFAULT_S

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> tuple[Self, list[Problem]]:
        """By ``DCF_RERANKER``, ``DCF_RERANKER_KEY``, ``DCF_RERANKER_MODEL`` and
        ``DCF_RERANKER_TIMEOUT``; and all that is wrong there."""
        where = env.get(_WHERE) or ""
        faults = _faults_of_url(where) if where.startswith(_SCHEMES) else _faults_of_file(where)
        problems = [_problem(_WHERE, message, hint) for message, hint in faults]
        said = env.get(_TIMEOUT) or str(_DEFAULT_S)
        try:
            timeout_s = float(said)
        except ValueError:
            timeout_s = 0.0
        if not 0 < timeout_s <= _MOST_S:
            hint = f"seconds, above 0 and at most {_MOST_S:g}, as in 2.5"
            problems.append(_problem(_TIMEOUT, f"{said!r} is no time to wait", hint))
        key, model = env.get("DCF_RERANKER_KEY") or "", env.get("DCF_RERANKER_MODEL") or ""
        return cls(where, key, model, timeout_s), problems

    def reranker(self, personal: PersonalSetting) -> Reranker | None:
        """The reranker, None where there is to be none. ``personal`` is what is taken out of texts
        before a service gets them."""
        if not self.where:
            return None
        if self.where.startswith(_SCHEMES):
            from dcf.retrieval.rerank_endpoint import RerankEndpoint

            return RerankEndpoint(
                self.where,
                key=self.key,
                model=self.model,
                timeout_s=self.timeout_s,
                clean=personal.without,
            )
        return _cross_encoder(Path(self.where), self.timeout_s)


# Its weights are loaded once, however many ask.
@cache
def _cross_encoder(model: Path, timeout_s: float) -> CrossEncoder:
    return CrossEncoder(model, timeout_s)


def _faults_of_url(url: str) -> Iterator[tuple[str, str]]:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        yield f"it is no URL: {error}", "as in https://rerank.example.com/v1/rerank"
        return
    if not host or any(sign.isspace() or not sign.isprintable() for sign in url):
        yield "it names no host", "as in https://rerank.example.com/v1/rerank"
    if parts.username is not None:
        yield "it has a user in it", "a key goes into DCF_RERANKER_KEY"
    if parts.scheme == "http" and host and not is_loopback(host):
        yield f"texts would go to {host} unencrypted", "use https; http is for this machine alone"


def _faults_of_file(path: str) -> Iterator[tuple[str, str]]:
    if not path:
        return
    model = Path(path)
    hint = "name the ONNX file of a cross-encoder, or the URL of a service"
    if not model.is_file():
        yield f"{path} is no file", hint
    elif not tokenizer_beside(model).is_file():
        yield f"there is no {tokenizer_beside(model)}", "put the tokenizer of the model beside it"


def _problem(name: str, message: str, hint: str) -> Problem:
    return Problem("CLI_RETRIEVAL", message, hint=hint, file=name)
