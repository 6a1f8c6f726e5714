"""Secrets in the source of programs: in items, calls, macros and literals of many languages."""

from __future__ import annotations

import time

import pytest

from dcf.secret_form import without_secrets

CHOSEN = "hunter2-Abc9!x"
DRAWN = "q7Rk2ZxV9mTbL4wNp8Ys3DhC"


def out(text: str) -> str:
    return without_secrets(text, "#")


@pytest.mark.parametrize("secret", [CHOSEN, DRAWN])
@pytest.mark.parametrize(
    "text",
    [
        # Items and calls.
        'os.environ["DB_PASSWORD"] = "{}"',
        "config['password'] = '{}'",
        "app.config['SECRET_KEY'] = '{}'",
        "app.config['SECRET_KEY'] ||= '{}'",
        'os.environ.setdefault("DB_PASSWORD", "{}")',
        "define('DB_PASSWORD', '{}');",
        'user.setPassword("{}");',
        'set_password("{}")',
        'builder.password("{}").build()',
        'map.put("password", "{}");',
        'client.set("api_key", "{}")',
        'props.setProperty("db.password", "{}");',
        # Before the sign of giving.
        'var password string = "{}"',
        'char password[] = "{}";',
        'const apiKey = "{}"',
        'const password: string = "{}"',
        '#define DB_PASSWORD "{}"',
        'password = \\\n  "{}"',
        "export PASSWORD=\\\n{}\n",
        "PASSWORD ?= {}",
        "PASSWORD := {}",
        # Literals of other signs, and objects.
        'password = """{}"""',
        "password = '''\n{}\n'''",
        "const password = `{}`;",
        'let password: &str = "{}";',
        'static P: let token: &\'static str = "{}";',
        'passwords = [1]; password = ["{}"]',
    ],
)
def test_a_secret_in_a_program_is_taken_out(text: str, secret: str) -> None:
    assert out(text.format(secret)) == text.format("#")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password='hunt' + 'er2-Abc9!x'", "password='#' + '#'"),
        ('token = "q7Rk2ZxV9mTb" + "L4wNp8Ys3DhC"', 'token = "#" + "#"'),
        ('token = "q7Rk2ZxV9mTb" \\\n    "L4wNp8Ys3DhC"', 'token = "#" \\\n    "#"'),
        ("password = 'hunt' . \"er2-Abc9!x\";", "password = '#' . \"#\";"),
        ("password = {'a': 'hunter2-Abc9!x', 'b': 1}", "password = {'a': '#', 'b': 1}"),
        ("$password = ['a' => 'hunter2-Abc9!x'];", "$password = ['a' => '#'];"),
    ],
)
def test_no_part_of_a_secret_stays(text: str, expected: str) -> None:
    assert out(text) == expected


def test_a_token_of_a_header_that_is_an_item_is_taken_out() -> None:
    assert DRAWN not in out(f'headers["Authorization"] = "Token {DRAWN}"')
    assert CHOSEN not in out(f'headers["Authorization"] = "Token {CHOSEN}"')


@pytest.mark.parametrize("sign", ["%3D", "%3d", "%3A"])
def test_a_name_in_an_address_is_given_its_value_by_an_escape_alone(sign: str) -> None:
    assert out(f"password{sign}hunter2Abc9") == f"password{sign}#"


@pytest.mark.parametrize(
    "text",
    [
        "password = get_password()",
        "password: str",
        'if password == "":',
        'if config["password"] == "abc1x2":',
        'os.environ["PASSWORD"]',
        "setPassword(value)",
        'setPassword("")',
        'set_password("Enter your password")',
        'password = "{{ vault }}"',
        'config["password"] = input()',
        'os.environ["DB_PASSWORD"] = os.getenv("X1")',
        'os.environ["DB_PASSWORD"] = "<your password>"',
        'os.environ["DB_PASSWORD"] = "your-password"',
        'define("DB_PASSWORD", getenv("A2"))',
        'os.environ.get("DB_PASSWORD", "")',
        'find_element("password", "text")',
        'validate("password", "required|min:8")',
        'label("Password", "Password:")',
        "var password string",
        "#define PASSWORD_H",
        "PASSWORD ?= $(shell cat x2)",
        "headers['Authorization'] = token",
        "headers['Authorization'] = f'Token {token}'",
        'getToken("abc")',
        "password = {'a': get()}",
        'password = {"type": "string"}',
        'password = """Return the password of x2."""',
        "the password: `string`, password = `${x2}`",
    ],
)
def test_what_gives_no_secret_stays(text: str) -> None:
    assert out(text) == text


@pytest.mark.parametrize(
    "part",
    [
        'put("password", "',
        'put("password"' + 60 * " ",
        'setPassword("a1b2c3',
        "#define PASSWORD ",
        'd["password"] ',
        "password string ",
        "password[1] ",
        "password = \\\n",
        "password%3d",
        'password="a" ',
        'password="a" + "b" + ',
        "password={'a': ",
        "password=['a1b2c3', ",
        'password="""a1b2c3',
        'password="""' + 60 * " ",
    ],
)
def test_no_program_takes_long(part: str) -> None:
    began = time.process_time()
    out(part * (200_000 // len(part)))
    assert time.process_time() - began < 1
