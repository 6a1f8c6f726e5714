"""Secrets in free text are found by their look and their name; what is said about them stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.secret_form import is_credential, without_credentials, without_secrets

# What stands behind the key is made up; its form is the maker's.
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0B\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # By the name that the value is given to.
        ("client_secret=abcd1234efgh", "client_secret=#"),
        ("access_token: abcdefgh1234", "access_token: #"),
        ("{'refresh_token': 'abcdefghij'}", "{'refresh_token': '#'}"),
        ('{"clientSecret":"a b, c"}', '{"clientSecret":"#"}'),
        (r"said {\"password\": \"abc def\"}", r"said {\"password\": \"#\"}"),
        ("DB_PASSWORD=hunter2hunter2", "DB_PASSWORD=#"),
        ("DB_PASSWORD_2=hunter2hunter2", "DB_PASSWORD_2=#"),
        ("DB_PASS=correct horse", "DB_PASS=# horse"),
        ("ansible_ssh_pass: hunter2hunter2", "ansible_ssh_pass: #"),
        ('{"user": "ann", "pass": "Hunter22xk"}', '{"user": "ann", "pass": "#"}'),
        ("auth: {user: 'ann', pass: 'Hunter22xk'}", "auth: {user: 'ann', pass: '#'}"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=# psql"),
        ("aws_secret_access_key=wJalr/K7MDENG/bPxRfiCY", "aws_secret_access_key=#"),
        ("SECRET_KEY_BASE=0a1b2c3d", "SECRET_KEY_BASE=#"),
        ("AccountKey=abcdefghijkl==;Endpoint=x", "AccountKey=#;Endpoint=x"),
        ("AccountKey=/bcd/fgh+jkl==;Endpoint=x", "AccountKey=#;Endpoint=x"),
        ("X-API-Key: 0123456789abcdef", "X-API-Key: #"),
        ("api key: 0123456789", "api key: #"),
        ("password: abc", "password: #"),
        ('password: "correct horse"', 'password: "#"'),
        ("password='unclosed", "password='#"),
        ("Password => Tr0ub4dor&3, retry", "Password => #, retry"),
        ("password=ab<cd>ef", "password=#"),
        ("password: no-one-knows", "password: #"),
        ("pwd=hunter2hunter", "pwd=#"),
        ("passphrase: correcthorse", "passphrase: #"),
        ("cvv: 123", "cvv: #"),
        ("<ns:password>hunter2</ns:password>", "<ns:password>#</ns:password>"),
        ("run --db-password hunter2 now", "run --db-password # now"),
        ("Cookie: session=abcdef123456; id=7", "Cookie: #"),
        ("'Set-Cookie': 'sid=abc; Path=/'", "'Set-Cookie': '#'"),
        ("Authorization: Bearer abcdefghijkl", "Authorization: #"),
        ("authorization=0123456789abcdef", "authorization=#"),
        ("https://h/b?sv=1&sig=a%2Fb%3D&se=2", "https://h/b?sv=1&sig=#&se=2"),
        ("https://h/?X-Amz-Signature=0a1b2c", "https://h/?X-Amz-Signature=#"),
        # Name and value, each a member of its own: containers, registries of settings, Hadoop.
        ('{"name":"DB_PASSWORD","value":"Hunter22xk"}', '{"name":"DB_PASSWORD","value":"#"}'),
        ("- name: DB_PASSWORD\n  value: Hunter22xk\n", "- name: DB_PASSWORD\n  value: #\n"),
        ('<add key="DbPassword" value="Hunter22xk"/>', '<add key="DbPassword" value="#"/>'),
        (
            "<name>db.password</name>\n<value>Hunter22xk</value>",
            "<name>db.password</name>\n<value>#</value>",
        ),
        ("<key>Password</key><string>Ab12</string>", "<key>Password</key><string>#</string>"),
        # By their look.
        ("Bearer abcdef0123456789", "#"),
        ("Bearer abcdefghijkl", "#"),
        ("Basic dXNlcjpwYXNz", "#"),
        ("redis://user:pa55word@host:6379/0", "redis://#@host:6379/0"),
        (f"key {KEY} end", "key # end"),
        (f"key {KEY[:50]}", "key #"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc-123", "#"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "#"),
        ("glpat-abcdefghij0123456789", "#"),
        ("ghp_abcdefghij0123456789", "#"),
        ("sk_live_abcdefghijklmnop", "#"),
        ("sk-ant-api03-abcd-efgh-ijkl", "#"),
        ("AKIAIOSFODNN7EXAMPLE", "#"),
        ("pk_live_abcdefghijklmnop", "#"),
        ("sk_org_live_a1b2c3d4e5f6g7h8i9", "#"),
        ("rk-a-b-c-0123456789abcdef", "#"),
        ("pk_0123456789abcdef_fedcba9876543210", "#"),
        ("pk_customeraccounthistory_0123456789abcdef", "#"),
        ("ops_eyJhbGciOiJI.eyJzdWIi.c2ln", "ops_#"),
        ("Basic Zm9vOmJhcg==", "#"),
        ("Basic abc123def456", "#"),
        # Near to what is only said.
        ("passcode: 4096", "passcode: #"),
        ("access key: Ring7bearer", "access key: #"),
        ("access_key=ring", "access_key=#"),
        ("token: 4096abcd", "token: #"),
        ("token: 1234.abcd.efgh", "token: #"),
        ("password: office", "password: #"),
        ("authorization=abcdefghijklmnop", "authorization=#"),
        # Behind an option of one letter.
        ("mysql -uroot -pHunter22xk shop", "mysql -uroot -p# shop"),
        ("mysqldump -P3306 -u root -p'Hunter 22' shop", "mysqldump -P3306 -u root -p'# 22' shop"),
        ("mariadb-admin -pHunter22xk ping", "mariadb-admin -p# ping"),
        ("sshpass -p Hunter22xk ssh ann@host", "sshpass -p # ssh ann@host"),
        ("sshpass -pHunter22xk ssh ann@host", "sshpass -p# ssh ann@host"),
        ("docker login -u ann -p Hunter22xk ghcr.io", "docker login -u ann -p # ghcr.io"),
        ("['docker', 'login', '-p', 'Hunter22xk']", "['docker', 'login', '-p', '#']"),
        ("run(['mysql', '-uroot', '-pHunter22xk'])", "run(['mysql', '-uroot', '-p#'])"),
        ("curl -u ann:Hunter22xk https://h/", "curl -u ann:# https://h/"),
        ("curl -sSuann:Hunter22xk https://h/", "curl -sSuann:# https://h/"),
        ("curl -U a:Hunter22xk -u ann:Hunter33xk h", "curl -U a:# -u ann:# h"),
        ("curl --proxy-user 'a:Hunter 22xk' h", "curl --proxy-user 'a:# 22xk' h"),
        ("psql postgresql://ann:Hunter22xk@db/shop", "psql postgresql://#@db/shop"),
        ("app --password=Xy9 && app --password Xy9", "app --password=# && app --password #"),
        ("mongosh -u ann -p Hunter22xk", "mongosh -u ann -p #"),
        ("redis-cli -h db -a Hunter22xk ping", "redis-cli -h db -a # ping"),
        # In other languages.
        ("Passwort: Hunter22xk", "Passwort: #"),
        ("Passwort: sommer", "Passwort: #"),
        ("Benutzer: ann Passwort: sommer Server: db", "Benutzer: ann Passwort: # Server: db"),
        ("Kennwort = TopGeheim bitte", "Kennwort = # bitte"),
        ("contraseña: Hunter22xk, servidor: db", "contraseña: #, servidor: db"),
        ("Mot de passe : Hunter22xk", "Mot de passe : #"),
        ('{"mot_de_passe": "beau soleil"}', '{"mot_de_passe": "#"}'),
        ("senha: Hunter22xk", "senha: #"),
        ("Пароль: весна2024", "Пароль: #"),
        ("密码: Hunter22xk", "密码: #"),
        ("数据库密码：Hunter22xk，服务器：db", "数据库密码：#，服务器：db"),
        ("パスワード：Hunter22xk", "パスワード：#"),
        ("비밀번호: Hunter22xk", "비밀번호: #"),
        ("كلمة المرور: Hunter22xk", "كلمة المرور: #"),
        ("पासवर्ड: Hunter22xk", "पासवर्ड: #"),
        ("db_passwort=Hunter22xk", "db_passwort=#"),
    ],
)
def test_a_secret_is_taken_out(text: str, expected: str) -> None:
    assert without_secrets(text, "#") == expected


@pytest.mark.parametrize(
    "text",
    [
        "used 1200 tokens of 4000, total_tokens=1200, max_tokens: 4096",
        "prompt tokens: 100, completion tokens: 20",
        "keys: name, id, amount",
        "key=order_id, primary_key=5, idempotency_key=pay-7, sort key: date",
        "the API keys are rotated monthly; no passwords are kept",
        "token: expired",
        "the token was refused: it is missing",
        "access_token: not given",
        "password: must have a digit",
        "password: 'required'",
        "client_secret=null",
        "unexpected token: IDENTIFIER",
        "token_type: bearer, password_reset: true, secret_name: payments",
        "basic authentication and bearer authentication are offered",
        "Authorization: Bearer authentication is required",
        "authorization: two persons",
        "cookies: none were sent",
        "author: Ann wrote the keyboard: layout",
        "password=${DB_PASSWORD} token=$TOKEN secret: <your secret>",
        "PWD=/home/ann/project",
        "the first pass: correct; tests_pass: 1203, first_pass = True, bypass: none",
        "url, user_pass = super().get_url(), pass :data:`h11.CLIENT`",
        "the --password option is missing; --token is required",
        "password=[secret DB_PASSWORD] token: [token]",
        "the glass-house-of-many-colours is at https://host:8080/a?key=order",
        "the secret of the public key and of a token bucket",
        "the column pk_customeraccounthistory of rk-customeraccounthistory",
        "sk-learn-estimators-and-pipelines",
        "max_token: 4096, max_token=4096; token: 4000.",
        '{"max_token": 4096, "token": 0.25}',
        "--max-token 4096 <max_token>4096</max_token>",
        "token: expected ')'",
        "page token: CAEQAA12, next_page_token=CAEQAA12, nextToken: CAEQAA12",
        "passcode: office",
        "password, value = both(); def f(token, value='abcdefgh12')",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db}",
        '{"name": "mode", "value": "Hunter22xk"}',
        "access key: Ring the bell.",
        "Basic plan2024 and basic plan-2024",
        "mysql -u root -p shop; mysql -P3306 -p < dump.sql",
        "mysqldump -p$PASS shop; mysql -p${PASS} -p<password>",
        "use docker login -p to log in; docker login -p $TOKEN; docker run -p 8080:80 login",
        "sshpass -p [redacted: password] ssh ann@host; sshpass reads -p as the password",
        "mysql is up | ssh -p2222 host",
        "curl -u ann https://host:8080/; curl -u $USER:$TOKEN h; curl -uann -d a:bcd h",
        "the curl of -u: none; curl --user $USER:{{ token }} h",
        "the password: it must be long",
        "Das Passwort: es muss lang sein. Passwort: erforderlich",
        "La contraseña: debe tener ocho signos; contraseña: requerida",
        "Le mot de passe : il doit être long. Mot de passe: obligatoire",
        "A senha: deve ser longa",
        "Пароль: он должен быть длинным",
        "密码：请输入密码",
        "パスワード：入力してください",
        "Passwort: $PASSWORT, contraseña: <contraseña>",
        "la palabra: contraseña y la clave: uno",
    ],
)
def test_what_is_said_about_secrets_stays(text: str) -> None:
    assert without_secrets(text, "#") == text


HEX = st.text("0123456789abcdef", min_size=4, max_size=4)
BEGINNINGS = st.sampled_from(["4b1d", "4b1d", "abcd", "face"])
"""Beginnings of secrets that are hexadecimal, and such as are none."""


@given(st.lists(HEX | BEGINNINGS, min_size=8, max_size=8))
def test_no_id_that_is_made_here_is_taken_for_a_credential(parts: list[str]) -> None:
    digits = "".join(parts)
    uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    for name in (uuid, digits, f"correlation-{uuid}", f"agent-{uuid}", f"order-{digits[:8]}"):
        assert not is_credential(name)
        assert without_secrets(f"see {name}") == f"see {name}"


def test_values_by_name_are_not_judged_where_only_looks_count() -> None:
    assert without_credentials("password=hunter2, AKIAIOSFODNN7EXAMPLE", "#") == (
        "password=hunter2, #"
    )
    assert is_credential(KEY)
    assert is_credential("eyJhbGciOiJI.eyJzdWIi")
    assert not is_credential("password=hunter2")
    assert not is_credential("pk_customeraccounthistory")
    assert not is_credential("eyJhbGciOiJI")


@given(st.text(max_size=200))
def test_taking_out_twice_is_taking_out_once(text: str) -> None:
    once = without_secrets(text, "[token]")
    assert without_secrets(once, "[token]") == once


WORST = [
    "mysql ",
    "mysql -p ",
    "docker ",
    "docker login ",
    "curl -u",
    "curl -ua",
    "redis-cli '",
    "password,",
    "|password|",
    "password,a1b2c3\n",
    "| password | a1b2c3",
    "password: `a1",
    "# password\n\n",
    "- password\n  - a1b2c3\n",
    "token = ('a' ",
    "token = (",
    "\x1b[",
    "\x1b[0mpassword",
    "passwort: wort ",
    "mot de passe ",
    "mot de passe : ",
    "密码：",
    "пароль: а ",
    "password",
    "password='",
    "password=",
    'password=\\"',
    "password: <a ",
    "PWD=/home/ann",
    "token: word",
    "token \n",
    "sk-a-",
    "pk-",
    "rk_",
    "sk_live_",
    "-----BEGIN PRIVATE KEY",
    "-----BEGIN A ",
    "-----BEGIN PRIVATE KEY-----END ",
    "https://",
    "https://a:",
    "--a",
    "--token ",
    "<a",
    "<a:token",
    "eyJaaaaaaaaa",
    "eyJ-",
    "eyJ_aaaaaaaa",
    "bearer ",
    "basic a-",
    "basic plan-",
    "a_",
    "x-",
    "&x-a",
    "a.b.",
    "SG.aaaaaaaaaaaaaaaa.",
    "ghp_",
    "glpat-",
    "hf_",
    "pypi-",
    "ya29.",
    "authorization=abc,",
    "cookie: a",
    "cookie: a=b;",
    "jdbc:oracle:thin:a/",
    "://a:b",
    "login x password ",
    "password:\n a",
    "password=\\",
    "-----BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqh\n",
    "==",
    '{"a":',
]
"""What each pattern may begin with, and what it reads far before it fails."""


@pytest.mark.parametrize("text", WORST)
def test_no_text_takes_long(text: str) -> None:
    assert _seconds(text, 20_000) < 1


@pytest.mark.parametrize("text", WORST)
def test_twice_the_text_takes_twice_the_time(text: str) -> None:
    # Four times as long where a pattern reads on from every place. What is done in 40 ms is not
    # measured well, and no pattern that does so needs that little for 40 KB.
    assert _seconds(text, 40_000) < max(3 * _seconds(text, 20_000), 0.04)


@pytest.mark.parametrize("begin", ["a password\n", "user\tpassword\n"])
@pytest.mark.parametrize("blank", [" ", "\t"])
def test_blanks_below_a_name_take_no_time(begin: str, blank: str) -> None:
    began = time.process_time()
    without_secrets(begin + 40_000 * blank + "x")
    without_secrets(40_000 * blank, is_table=True)
    assert time.process_time() - began < 1


def _seconds(text: str, size: int) -> float:
    """What the text costs, repeated up to ``size``: the least of up to three times."""
    whole = text * (size // len(text)) + "!"
    least = float("inf")
    for _ in range(3):
        began = time.process_time()
        without_secrets(whole, "#")
        is_credential(whole)
        least = min(least, time.process_time() - began)
        if least > 0.5:
            break
    return least
