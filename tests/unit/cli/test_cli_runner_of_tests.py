"""What runs tests in a line of a shell."""

from __future__ import annotations

import pytest

from dcf.cli.retrieval.runner_of_tests import runner_of_tests


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("cd shop && CI=1 uv run --extra dev pytest -q 2>&1 | tail -3", "pytest"),
        ("sudo -u ann timeout 60 .venv/bin/pytest", "pytest"),
        ("python -W error -m coverage run -m pytest", "pytest"),
        ("bash -lc 'cd shop; time npx vitest run'", "vitest"),
        ("(cd a; poetry run pytest)", "pytest"),
        ("echo begin\npytest", "pytest"),
        ("npm run build && npm run test:unit", "npm test"),
        ("make -C shop test", "make test"),
        ("./gradlew :app:test", "gradlew test"),
        ("cargo nextest run", "cargo test"),
        ("bundle exec rspec", "rspec"),
        ('git commit -m "make pytest faster"', None),
        ("git log --grep pytest", None),
        ("cat pytest.log", None),
        ("pip install pytest", None),
        ("npm install test", None),
        ("go build ./test", None),
        ("python tests/test_pay.py", None),
        ("cat > run.sh <<'END'\npytest\nEND", None),
        ("echo 'pytest", None),
        ("env " * 50_000 + "pytest", None),
        ("", None),
    ],
)
def test_a_runner_is_what_is_run_and_no_name_in_the_line(command: str, runner: str | None) -> None:
    assert runner_of_tests(command) == runner
