"""systemd units and the cron line: they start commands that exist, and may do no more than they need."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY, commands_of_cli

UNITS = sorted(path.name for path in DEPLOY.iterdir() if path.suffix in {".service", ".timer"})
SERVICES = [name for name in UNITS if name.endswith(".service")]
PROGRAM = "/opt/letopis/.venv/bin/letopis"


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(
        delimiters=("=",), comment_prefixes=("#",), interpolation=None, strict=True
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((DEPLOY / name).read_text("utf-8"))
    return parser


def test_the_three_units_are_there() -> None:
    assert UNITS == ["letopis-build.service", "letopis-build.timer", "letopis.service"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_starts_a_command_that_the_cli_has_with_its_config(name: str) -> None:
    program, command, *rest = unit(name)["Service"]["ExecStart"].split()
    assert program == PROGRAM
    assert command in commands_of_cli()
    assert rest == ["--config", "/etc/letopis/letopis.toml"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_has_no_privileges_and_reads_the_machine_only(name: str) -> None:
    service = unit(name)["Service"]
    assert service["User"] == "letopis"
    for key, value in {
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "read-only",
        "PrivateTmp": "yes",
        "CapabilityBoundingSet": "",
        "UMask": "0077",
    }.items():
        assert service[key] == value, key


def test_the_service_can_not_write_the_index_and_the_build_can() -> None:
    service, build = unit("letopis.service")["Service"], unit("letopis-build.service")["Service"]
    assert service["ReadOnlyPaths"] == "-/var/lib/letopis"
    assert "StateDirectory" not in service
    assert (build["StateDirectory"], build["StateDirectoryMode"]) == ("letopis", "0700")


def test_the_build_is_a_polite_job_whose_work_left_is_no_failure() -> None:
    build = unit("letopis-build.service")["Service"]
    assert build["Type"] == "oneshot"
    assert build["SuccessExitStatus"] == "3"
    assert int(build["Nice"]) > 0
    assert build["IOSchedulingClass"] == "idle"
    assert build["TimeoutStartSec"] == "infinity"
    assert build["KillSignal"] == "SIGINT"


def test_the_timer_makes_up_for_a_missed_night() -> None:
    timer = unit("letopis-build.timer")
    assert timer["Timer"]["Persistent"] == "yes" or timer["Timer"]["Persistent"] == "true"
    assert "RandomizedDelaySec" in timer["Timer"]
    assert timer["Install"]["WantedBy"] == "timers.target"


def test_secrets_come_from_a_file_and_stand_in_no_unit() -> None:
    for name in SERVICES:
        assert unit(name)["Service"]["EnvironmentFile"] == "-/etc/letopis/letopis.env"
        assert not re.search(r"(?im)^Environment=.*(KEY|TOKEN)", (DEPLOY / name).read_text("utf-8"))


def test_the_cron_line_builds_with_its_config_and_keeps_what_was_said() -> None:
    (line,) = [
        line for line in (DEPLOY / "crontab").read_text("utf-8").splitlines() if not line.startswith("#")
    ]
    fields = line.split(None, 5)
    assert all(re.fullmatch(r"[0-9*]+", field) for field in fields[:5])
    match = re.search(r'bin/letopis" (\w+) --config "\$HOME/[^"]+" >>"[^"]+" 2>&1$', fields[5])
    assert match is not None
    assert match[1] in commands_of_cli()
    assert "%" not in line  # cron reads it as a newline


def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:  # the other tests read the units without systemd
        return
    fake = tmp_path / "letopis"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    for name in UNITS:
        text = (DEPLOY / name).read_text("utf-8").replace(PROGRAM, str(fake))
        (tmp_path / name).write_text(re.sub(r"(?m)^Documentation=.*\n", "", text))
    done = subprocess.run(
        [program, "verify", "--man=no", *(str(tmp_path / name) for name in UNITS)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    faults = [line for line in (done.stdout + done.stderr).splitlines() if str(tmp_path) in line]
    assert faults == []
