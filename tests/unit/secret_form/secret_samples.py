"""Secrets of real formats, made up: alphabets and lengths are those that their makers document.

They are put together when a test runs, so that no file here looks like a leak to a scanner.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

_WORD = ascii_letters + digits
_URL = _WORD + "-_"
_BASE64 = _WORD + "+/"
_HEX = digits + "abcdef"
_BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


@dataclass(frozen=True, slots=True)
class Sample:
    """``secret`` as it stands in ``text``: alone, or with what tells that it is one."""

    format: str
    text: str
    secret: str


def samples(seed: int, each: int) -> list[Sample]:
    """``each`` of every format."""
    rng = Random(seed)
    made = [(name, make(rng)) for name, make in _FORMATS.items() for _ in range(each)]
    return [Sample(name, text, secret) for name, (text, secret) in made]


def _some(rng: Random, alphabet: str, length: int) -> str:
    # One letter and one digit at least: what is made at random nearly always has both.
    ends = (
        rng.choice([one for one in alphabet if one.isalpha()]),
        rng.choice([one for one in alphabet if one.isdigit()]),
    )
    return ends[0] + "".join(rng.choices(alphabet, k=length - 2)) + ends[1]


_Make = Callable[[Random], tuple[str, str]]


def _token(prefix: str, alphabet: str, length: int, end: str = "") -> _Make:
    def make(rng: Random) -> tuple[str, str]:
        secret = prefix + _some(rng, alphabet, length) + end
        return secret, secret

    return make


def _said(text: str, alphabet: str, length: int, end: str = "") -> _Make:
    def make(rng: Random) -> tuple[str, str]:
        secret = _some(rng, alphabet, length) + end
        return text.replace("#", secret), secret

    return make


def _parts(*parts: str | tuple[str, int]) -> _Make:
    def make(rng: Random) -> tuple[str, str]:
        secret = "".join(one if isinstance(one, str) else _some(rng, *one) for one in parts)
        return secret, secret

    return make


def _signed(rng: Random) -> tuple[str, str]:
    claims = {"alg": "HS256", "typ": "JWT"}, {"sub": _some(rng, digits + "a", 10), "admin": True}
    head, body = (_unpadded(json.dumps(one).encode()) for one in claims)
    secret = f"{head}.{body}.{_some(rng, _URL, 43)}"
    return secret, secret


def _unpadded(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


def _key_file(kind: str) -> _Make:
    def make(rng: Random) -> tuple[str, str]:
        lines = "\n".join(_some(rng, _BASE64, 64) for _ in range(6))
        fence = f"{kind}PRIVATE KEY-----"
        return f"-----BEGIN {fence}\n{lines}\n-----END {fence}", lines

    return make


def _service_account(rng: Random) -> tuple[str, str]:
    text, _ = _key_file("")(rng)
    account = {"type": "service_account", "private_key": f"{text}\n", "client_id": "104"}
    written = json.dumps(account)
    return written, json.dumps(text)[40:-40]


def _basic(rng: Random) -> tuple[str, str]:
    secret = base64.b64encode(f"ann:{_some(rng, _WORD, 15)}".encode()).decode()
    return f"Authorization: Basic {secret}", secret


def _discord(rng: Random) -> tuple[str, str]:
    number = "".join(rng.choices("123456789", k=18))
    first = _unpadded(number.encode())
    secret = f"{first}.{_some(rng, _URL, 6)}.{_some(rng, _URL, 38)}"
    return secret, secret


def _uuid(rng: Random) -> tuple[str, str]:
    secret = "-".join(_some(rng, _HEX, length) for length in (8, 4, 4, 4, 12))
    return f"heroku_oauth: {secret}", secret


_FORMATS: dict[str, _Make] = {
    "aws access key id": _token("AK" + "IA", ascii_uppercase + "234567", 16),
    "aws secret key": _said("aws_secret_access_key = #", _BASE64, 40),
    "aws key pair": _parts("AS" + "IA", (ascii_uppercase + "234567", 16), ",", (_BASE64, 40)),
    "github classic": _token("gh" + "p_", _WORD, 36),
    "github oauth": _token("gh" + "o_", _WORD, 36),
    "github app": _token("gh" + "s_", _WORD, 36),
    "github fine-grained": _parts("github" + "_pat_", (_WORD, 22), "_", (_WORD, 59)),
    "gitlab": _token("gl" + "pat-", _URL, 20),
    "slack bot": _parts(
        "xo" + "xb-", (digits + "1a", 12), "-", (digits + "1a", 13), "-", (_WORD, 24)
    ),
    "slack user": _parts("xo" + "xp-", (digits + "1a", 12), "-", (_HEX, 32)),
    "slack webhook": _parts(
        "https://hooks.slack" + ".com/services/T", (_WORD, 10), "/B", (_WORD, 10), "/", (_WORD, 24)
    ),
    "stripe secret": _token("sk_" + "live_", _WORD, 24),
    "stripe restricted": _token("rk_" + "test_", _WORD, 99),
    "stripe webhook": _token("whs" + "ec_", _WORD, 32),
    "openai": _parts("sk-" + "proj-", (_URL, 74), "T3Blbk" + "FJ", (_URL, 74)),
    "anthropic": _token("sk-" + "ant-api03-", _URL, 93, "AA"),
    "google api": _token("AI" + "za", _URL, 35),
    "google service account": _service_account,
    "google oauth client": _token("GOC" + "SPX-", _URL, 28),
    "azure storage": _said(
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=#;EndpointSuffix=core.net",
        _BASE64,
        86,
        "==",
    ),
    "azure client secret": _parts((_WORD, 3), "8Q~", (_WORD, 34)),
    "rsa private key": _key_file("RSA "),
    "ec private key": _key_file("EC "),
    "openssh private key": _key_file("OPENSSH "),
    "encrypted private key": _key_file("ENCRYPTED "),
    "json web token": _signed,
    "npm": _token("np" + "m_", _WORD, 36),
    "npmrc": _said("//registry.npmjs.org/:_authToken=#", _HEX, 36),
    "pypi": _token("py" + "pi-AgEIcHlwaS5vcmc", _URL, 140),
    "docker hub": _token("dckr" + "_pat_", _URL, 27),
    "docker config": _said('{"auths": {"hub": {"auth": "#"}}}', _BASE64, 34, "=="),
    "sendgrid": _parts("S" + "G.", (_URL, 22), ".", (_URL, 43)),
    "twilio key": _token("S" + "K", _HEX, 32),
    "twilio auth token": _said("TWILIO_AUTH_TOKEN=#", _HEX, 32),
    "telegram": _parts("7123456789", ":A" + "A", (_URL, 33)),
    "discord": _discord,
    "hugging face": _token("h" + "f_", _WORD, 34),
    "basic authorization": _basic,
    "bearer authorization": _said("Authorization: Bearer #", _WORD + "-._~", 40),
    "postgres address": _said("postgres://shop:#@db.example:5432/shop", _WORD + "!$&*", 16),
    "redis address": _said("redis://:#@cache.example:6379/0", _WORD, 24),
    "mongodb address": _said("mongodb+srv://shop:#@c0.example.net/?w=majority", _WORD, 20),
    "amqp address": _said("amqps://shop:#@queue.example/vhost", _WORD + "%", 20),
    "https address": _said("https://ann:#@git.example/shop.git", _WORD + "-", 20),
    "password": _said("DB_PASSWORD=#", _WORD + "!#%^*+_", 14),
    "api key": _said("api_key: #", _HEX, 32),
    "json member": _said('{"clientSecret": "#", "id": 7}', _WORD + "/+ ,;", 30),
    "connection string": _said("Server=db;User Id=sa;Password=#;Encrypt=true", _WORD + "!@$", 14),
    "option": _said("login --db-password # --host db", _WORD, 14),
    "netrc": _said("machine api.example login ann password #", _WORD, 16),
    "cookie": _said("Cookie: JSESSIONID=#; theme=dark", _HEX, 32),
    "session": _said("PHPSESSID=#", ascii_lowercase + digits, 26),
    "age": _token("AGE-SECRET-" + "KEY-1", _BECH32, 58),
    "shopify": _token("shp" + "at_", _HEX, 32),
    "digitalocean": _token("dop" + "_v1_", _HEX, 64),
    "databricks": _token("da" + "pi", _HEX, 32),
    "heroku": _uuid,
    "vault": _token("hv" + "s.", _URL, 95),
    "mailgun": _token("ke" + "y-", _HEX, 32),
    "mailchimp": _parts((_HEX, 32), "-us14"),
    "query of an address": _said("https://h.example/a?access_token=#&page=2", _WORD, 30),
    "signed address": _said("https://h.example/b?se=2027&sig=#&sv=1", _WORD + "%", 46),
    "azure devops address": _said("https://#@dev.example/shop/_git/shop", _WORD, 52),
}
