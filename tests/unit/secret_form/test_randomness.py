"""What only chance can have made is a secret; digests, ids and data that say what they are stay."""

from __future__ import annotations

import base64
import hashlib
import uuid
from pathlib import Path
from random import Random
from string import ascii_letters, ascii_lowercase, digits

import pydantic
import pytest

from dcf.secret_form import marked, without_secrets
from tests.campaigns import campaign, soak_only

TAKEN_OUT = "[redacted: random value]"


def drawn(rng: Random, alphabet: str, count: int) -> str:
    return "".join(rng.choices(alphabet, k=count))


@campaign(10)
@pytest.mark.parametrize("count", [32, 40, 48, 64])
def test_what_chance_made_is_taken_out_wherever_it_stands(share: int, count: int) -> None:
    rng = Random(share)
    made = [drawn(rng, ascii_letters + digits, count) for _ in range(200)]
    left = [one for one in made if without_secrets(f"it is {one}.") != f"it is {TAKEN_OUT}."]
    # A word that chance made may look like a name that somebody gave, the shorter the more often.
    assert len(left) <= {32: 14, 40: 8, 48: 6, 64: 3}[count], left


@pytest.mark.parametrize("name", ["STRIPE_KEY", "app_token_v2", "db_credentials", "license-key"])
def test_less_is_enough_where_it_has_the_name_of_a_secret(name: str) -> None:
    rng = Random(3)
    for alphabet in (ascii_letters + digits, ascii_lowercase + digits):
        made = [drawn(rng, alphabet, 24) for _ in range(100)]
        left = [one for one in made if one in without_secrets(f"{name}={one}\n")]
        assert len(left) <= 10, left


@pytest.mark.parametrize("maker", ["datadog_app", "CLOUDFLARE", "okta.client", "algolia-search"])
def test_hexadecimal_digits_are_a_secret_where_their_maker_is_named(maker: str) -> None:
    made = hashlib.md5(maker.encode()).hexdigest()
    assert made not in without_secrets(f'{maker}_id: "{made}"')


def _octets(count: int) -> bytes:
    return Random(5).randbytes(count)


@pytest.mark.parametrize(
    "text",
    [
        f"commit {hashlib.sha1(b'a').hexdigest()}",
        f"it has {hashlib.sha256(b'a').hexdigest()} as its digest",
        f"the id is {uuid.UUID(int=2**127 + 12345)}",
        f"{'0x' + hashlib.sha256(b'b').hexdigest().upper()}",
        f"sha512-{base64.b64encode(_octets(64)).decode()}",
        f"h1:{base64.b64encode(_octets(32)).decode()}",
        f"data:image/png;base64,{base64.b64encode(_octets(600)).decode()}",
        f"data:image/gif;base64,{base64.b64encode(_octets(60)).decode()}",
        f"<img>{base64.b64encode(_octets(600)).decode()}</img>",
        "-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(_octets(200)).decode(),
        "b'" + base64.encodebytes(_octets(200)).decode().strip().replace("\n", "'\n    b'") + "'",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEuG0ikzbBS9xBkUhhSiWAkVHAVg4MD5Qnm2cdyPQm ann",
        "class ValidatorWithValuesAndKeywordsOnlyV1Protocol2: pass",
        "packages/Frontend2/src/Components/OrderTable/OrderTableRow3.tsx",
        "model NousResearch/Nous-Hermes-2-Yi-34B of 2026-11-24T10:00:00Z",
        "key = rfc5280.SubjectPublicKeyInfo",
        "cache_key: d41d8cd98f00b204e9800998ecf8427e",
        "token = base64.b64encode(user)",
        "call_aBcDeFgHiJkLmNoPqRsT1234 returned toolu_01A09q90qw90lq917835lq9",
    ],
)
def test_what_says_what_it_is_stays(text: str) -> None:
    assert without_secrets(text) == text


def _mistakes(folder: Path) -> tuple[int, int]:
    """What is taken out of the Python files of ``folder``, and how many lines these have."""
    found: list[str] = []

    def put(kind: str) -> str:
        found.append(kind)
        return marked(kind)

    lines = 0
    for file in sorted(folder.rglob("*.py")):
        text = file.read_text("utf-8", errors="replace")
        lines += text.count("\n")
        without_secrets(text, put)
    return len(found), lines


@pytest.mark.parametrize("package", ["anyio", "yaml", "hypothesis", "click"])
def test_one_line_in_ten_thousand_of_ordinary_code_is_taken_for_a_secret(package: str) -> None:
    found, lines = _mistakes(Path(pydantic.__file__).parents[1] / package)
    assert lines > 5_000
    assert found <= 1 + lines / 10_000


@soak_only("dcf/secret_form", "requirements/dev.txt")
def test_the_same_of_all_packages() -> None:
    found, lines = _mistakes(Path(pydantic.__file__).parents[1])
    assert found <= lines / 10_000
