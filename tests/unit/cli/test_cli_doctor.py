"""``dcf doctor`` knows the packages that DCF consists of by the names they are installed under."""

from __future__ import annotations

import pytest

from dcf.cli import doctor
from dcf_agents.installation import installed_version, package_command, reinstall_command


def test_the_packages_that_are_needed_are_found_under_their_names() -> None:
    checks = [doctor._installed(package) for package in doctor._PACKAGES]
    assert all(check.ok for check in checks), checks
    assert ("package dcf-agents", installed_version()) in {
        (check.name, check.found) for check in checks
    }


def test_a_missing_one_is_installed_by_its_name_and_never_another_program_by_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "version", _no_version)
    hints = {package: doctor._installed(package).hint for package in doctor._PACKAGES}
    assert hints["dcf-agents"] == reinstall_command()
    assert hints["redis"] == package_command("redis")


def _no_version(package: str) -> str:
    raise doctor.PackageNotFoundError(package)
