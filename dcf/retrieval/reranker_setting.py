"""Which reranker there is to be: from the environment to a ``Reranker``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from dcf.personal_form import PersonalSetting
from dcf.problem import Problem
from dcf.retrieval.cross_encoder import CrossEncoder, tokenizer_beside
from dcf.retrieval.rerank_endpoint import RerankEndpoint
from dcf.retrieval.reranker import Reranker
from dcf.tools.serving import is_loopback

_WHERE, _TIMEOUT = "DCF_RERANKER", "DCF_RERANKER_TIMEOUT"
_SCHEMES = ("http://", "https://")
_DEFAULT_S, _MOST_S = 10.0, 600.0


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
