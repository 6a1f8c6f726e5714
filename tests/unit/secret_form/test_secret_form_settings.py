"""Passwords in tables and in settings that do not say ``name=value``."""

from __future__ import annotations

import time

import pytest

from dcf.secret_form import without_secrets

CRYPT = "$6$saltsalt$" + "qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8wwnSq"


def out(text: str) -> str:
    return without_secrets(text, "#")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Chrome's export, Firefox's, and a cell with the sign that separates.
        (
            'name,url,username,password\nShop,https://h/,a,Hunter22xk\nB,,"b, c",correct horse\n',
            'name,url,username,password\nShop,https://h/,a,#\nB,,"b, c",#\n',
        ),
        (
            '"url","username","password"\r\n"https://h","ann","Hunt,er22"\r\n',
            '"url","username","password"\r\n"https://h","ann","#"\r\n',
        ),
        ("user;Passwort\nann;Sommer\n", "user;Passwort\nann;#\n"),
        ("id\tapi_key\n1\tA1b2C3d4E5\n2\tnone", "id\tapi_key\n1\t#\n2\tnone"),
        (
            "| User | Password |\n| --- | --- |\n| ann | Hunter22 |\n| bob | required |\n\n| a |",
            "| User | Password |\n| --- | --- |\n| ann | # |\n| bob | required |\n\n| a |",
        ),
        ("| api_key |\n| --- |\n| A1b2C3d4E5 |", "| api_key |\n| --- |\n| # |"),
        (
            " name | passwd \n------+------\n ann  | hunter2\n",
            " name | passwd \n------+------\n ann  | #\n",
        ),
        # Rows of a name and its value.
        ("name,value\nDB_PASSWORD,Pq5!jHx9kM2v\n", "name,value\nDB_PASSWORD,#\n"),
        ('"k";"v"\n"Passwort";"Sommer26"', '"k";"v"\n"Passwort";"#"'),
        ("1\tapi_key\tA1b2C3d4E5f6\n2\thost\tdb", "1\tapi_key\t#\n2\thost\tdb"),
        (
            "| setting | value |\n|---|---|\n| `password` | `Ej2!rTm6pA7s` |\n",
            "| setting | value |\n|---|---|\n| `password` | `#` |\n",
        ),
        ("| Password: | Hunter22xk | of ann |", "| Password: | # | of ann |"),
        ("> | client_secret | Ni5!yGk3vC9b |", "> | client_secret | # |"),
        ("| password | Ni5!yGk3vC9b |\n| --- | --- |", "| password | # |\n| --- | --- |"),
        (" name | value \n---+---\n pwd | hunter22 \n", " name | value \n---+---\n pwd | # \n"),
        # As Markdown and programs have them.
        ("## Password\n\nHunter22xk\n\nof ann", "## Password\n\n#\n\nof ann"),
        ("- password\n  - Hunter22xk\n- host", "- password\n  - #\n- host"),
        ('KEY = ("wJalrXUtnFEMI7K7MDEN"\n    "bPxRfiCYEX3a")', 'KEY = ("#")'),
        ("DB_PASSWORD: str = (\n  'Hunt' 'er22xk'\n)", "DB_PASSWORD: str = (\n  '#'\n)"),
        ('"user"\t"password"\n"bob"\t"zz9Abc!q"\n', '"user"\t"password"\n"bob"\t"#"\n'),
        # Columns that blanks part: a data frame, and what a command prints.
        (
            "   user        password\n0   bob  hunter2-Abc9!x\n1   ann          none\n",
            "   user        password\n0   bob  #\n1   ann          none\n",
        ),
        (
            "NAME   DB PASSWORD     AGE\nshop   Hunter22xk   3d\n\nof ann\n",
            "NAME   DB PASSWORD     AGE\nshop   #   3d\n\nof ann\n",
        ),
        ("pass**word**: hunter2-Abc9!x", "pass**word**: #"),
        ("**pass**word: hunter2-Abc9!x", "**pass**word: #"),
        ("ALTER USER bob WITH PASSWORD 'alter123';", "ALTER USER bob WITH PASSWORD '#';"),
        ("CREATE USER b IDENTIFIED BY 'ident123'", "CREATE USER b IDENTIFIED BY '#'"),
        ("db.host:5432:app:admin:pgpass99", "db.host:5432:app:admin:#"),
        ("bindpw ldapb1nd", "bindpw #"),
        (
            'ConvertTo-SecureString "plain12" -AsPlainText',
            'ConvertTo-SecureString "#" -AsPlainText',
        ),
        (r"net use z: \\srv\x /user:bob netuse1", r"net use z: \\srv\x /user:bob #"),
        ("enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0", "enable secret 5 #"),
        ("bob:$apr1$abcd1234$0123456789012345678901", "bob:#"),
        (f"root:{CRYPT}:19000:0", "root:#:19000:0"),
        ('psk="wifipsk1234"', 'psk="#"'),
        ("snmp-server community c0mm RO", "snmp-server community # RO"),
        ("PIN: 84712", "PIN: #"),
        ("the password is Tr0ub4dor&3.", "the password is #."),
        ("das Passwort lautet Sommer26!", "das Passwort lautet #"),
        ("password&#61;enthunter22", "password&#61;#"),
        (
            "\x1b[31mpass\x1b[0mword\x1b[1;32m=\x1b[0mHunter22xk",
            "\x1b[31mpass\x1b[0mword\x1b[1;32m=\x1b[0m#",
        ),
        ("pass\u200bword=zwhunter22", "pass\u200bword=#"),
        ("ｐａｓｓｗｏｒｄ＝fwhunter22", "ｐａｓｓｗｏｒｄ＝#"),
    ],
)
def test_a_secret_of_a_table_or_a_setting_is_taken_out(text: str, expected: str) -> None:
    assert out(text) == expected


@pytest.mark.parametrize("secret", ["hunter2-Abc9!x", "q7Rk2ZxV9mTbL4wNp8Ys3DhC"])
@pytest.mark.parametrize(
    "text",
    [
        # YAML 1.2.2: 8.1 block scalars, 6.9 node properties, 8.2.1 block sequences.
        "password: |\n  {}\nuser: a\n",
        "password: >-\n  {}\n",
        "password: &pw {}\n",
        "password: !secret {}\n",
        "password: !!str '{}'\n",
        "password: !vault |\n  {}\n",
        "password:\n  - {}\n  - '{}'\nuser: a\n",
        "password:\n- {}\n",
    ],
)
def test_a_secret_is_taken_out_of_each_form_of_yaml(text: str, secret: str) -> None:
    assert out(text.replace("{}", secret)) == text.replace("{}", "#")


@pytest.mark.parametrize(
    "text",
    [
        "password: |\n  The password of the user2 that\n",
        "password: *pw\n",
        "password: !secret db_password\n",
        "password: !Ref DbPassword\n",
        "password:\n  - name: x\n",
        "passwords:\n  - of: user2\n",
    ],
)
def test_what_yaml_says_of_a_secret_stays(text: str) -> None:
    assert out(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**password**: `Wy3!kSe7hJ4u`", "**password**: `[redacted: password]`"),
        ("- db_password: `Hunter22xk`, of ann", "- db_password: `[redacted: password]`, of ann"),
        ("**API key:** `A1b2C3d4E5f6`", "**API key:** `[redacted: key]`"),
        ("# DB password:\n`Hunter22xk`", "# DB password:\n`[redacted: password]`"),
    ],
)
def test_backticks_stay_around_what_is_put_there(text: str, expected: str) -> None:
    assert without_secrets(text) == expected
    assert without_secrets(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "We need user, password, token\nand host, port, name\n",
        "    username,\n    password,\n    host,\n",
        "| Token | Meaning |\n|---|---|\n| `%Y` | year |\n",
        "pass,fail\n10,2\n",
        "**password**: `string`, token: `Name.Builtin2`, passwords: `Hunter22xk`",
        "secret: `oauth2.x`, access_token: `OAuth2PasswordBearer`, password: `db-secret`",
        "# Password\n\nIt has 8 signs.\n\n# Token\n\nprose2\n\n# Passwords\n\nHunter22xk\n",
        "- password\n- user2name\n- token\n  - a word\n",
        'HELP_KEY = ("press-the-key" "to-begin")\nTOKENS = ("id2", "name")\n',
        "| password | string | of the user |\n| token | varchar(255) |\n| secret | SHA256 |",
        "| password | OAuth2 |\n| --- | --- |\n| token | X-Auth-Token |",
        "| password | DB_PASSWORD | --password2 |\n| token | $TOKEN2 | api/v1/token |",
        "| password | 8-64 | the 2nd |\n| secret | db-prod-2 |\n| api key | 2024-06-01T12:00 |",
        "reads user, password\npassword, user2 and\ntoken, a1b2c3d4e5f6g7\n",
        "f(\n    password,user2,\n    token,user3,\n)",
        "password,user2hunter and more of it\n",
        "| Secret | Since |\n|---|---|\n| none | 2024 |\n",
        "the password is required",
        "    user   password\n    a word and another\n",
        "def f(a):\n    pass\n    x2y3z4!\n",
        "x = f(**password) + a**b\n",
        "the password is base64-encoded and 12 characters long",
        "the password is 12 characters long",
        "pin: 12",
        "mapping: 84712",
        "test.log:12:app:admin:said",
        "identified by its name",
        "👩\u200d💻 writes code",
    ],
)
def test_what_is_said_of_secrets_stays(text: str) -> None:
    assert out(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "password," * 60_000,
        "a,password\n" + '"x,\n' * 60_000,
        "user,password\n" * 30_000,
        "|password" * 30_000 + "\n|---" * 30_000,
        "net use " * 60_000 + "/user:a b",
        "pass " * 90_000,
        "password: |\n  a" * 20_000,
        "user   password\n" * 15_000,
        "user   password   " * 12_000,
        "  password  a1b2c3\n" * 12_000,
        "password\n" * 20_000,
        "pass**word" * 20_000,
        '"user"\t"password"\n' * 12_000,
        "password: !a " * 20_000,
        "password:\n" + "- a1b2c3\n" * 30_000,
        "password:\n- a1b2c3\n" * 15_000,
        "$6$" * 90_000,
    ],
)
def test_the_time_grows_with_the_length(text: str) -> None:
    began = time.process_time()
    without_secrets(text)
    assert time.process_time() - began < 2
