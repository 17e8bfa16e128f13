"""The programs and settings in the pages about adapters."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from mock_engines import MockEngines
from slime_support import Job, use_slime
from support import environment, root

pages = root / "docs" / "adapters"


def blocks(page: str, language: str) -> list[str]:
    text = (pages / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def test_the_program_for_sglang_runs_and_is_short(tmp_path: Path) -> None:
    (program,) = blocks("sglang-vllm.md", "python")
    assert len([line for line in program.splitlines() if line.strip()]) <= 21
    engines = MockEngines("--engines", "2", "--speed", "500")
    try:
        for number, url in enumerate(engines.engine_urls, 1):
            assert f"http://10.0.0.{number}:30000" in program
            program = program.replace(f"http://10.0.0.{number}:30000", url)
        path = tmp_path / "program.py"
        path.write_text(program, encoding="utf-8")
        env = environment()
        run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=env, timeout=120)
    finally:
        engines.stop()
    assert (run.stderr, run.returncode) == ("", 0)
    assert re.fullmatch(r"(short 16 .{1,20}\n){3}", run.stdout)


def test_the_settings_for_slime_are_taken(tmp_path: Path) -> None:
    use_slime()
    from slime.utils.misc import load_function

    from rollflex.adapters import _check_slime, slime_programs
    from rollflex.adapters.slime import RollflexDataSource, generate_rollout

    shell, shell_of_turns = blocks("slime.md", "sh")
    assert len(shell.splitlines()) < 20
    paths = dict(re.findall(r"--([\w-]+-path) (rollflex[\w.]+\w)(?: |\n)", shell))
    assert load_function(paths["rollout-function-path"]) is generate_rollout
    assert load_function(paths["data-source-path"]) is RollflexDataSource
    yaml, yaml_of_turns = blocks("slime.md", "yaml")
    settings = dict(_setting(line) for line in yaml.splitlines())
    assert settings.pop("rollflex_server").startswith("/")
    (path,) = re.findall(r"--custom-generate-function-path (\S+)", shell_of_turns)
    assert load_function(path) is slime_programs.generate
    args = Namespace(**dict(_setting(line) for line in yaml_of_turns.splitlines()))
    args.custom_generate_function_path, args.rollout_function_path = path, None
    assert _check_slime.problems(args) == []
    engines = MockEngines("--engines", "2", "--speed", "500")
    try:
        job = Job(tmp_path, engines, 64, **settings)
        source = job.data_source()
        output = job.rollout(0, source)
        assert len(output.samples) == 8
        snapshot = source.take_checkpoint()["snapshot"]["config"]
        assert {name: snapshot[name] for name in settings["rollflex"]} == settings["rollflex"]
        source.session.close()
    finally:
        engines.stop()
    page = (pages / "slime.md").read_text(encoding="utf-8")
    for name in output.metrics:
        assert f"`{name.removeprefix('rollout/rollflex/')}`" in page


def test_the_settings_of_selection_in_slime_are_taken(tmp_path: Path) -> None:
    from rollflex.adapters import _check_slime

    section = (pages / "slime.md").read_text(encoding="utf-8").split("## Prompts worth their tokens")[1]
    (options,) = re.findall(r"```text\n(.*?)```", section.split("\n## ")[0], re.S)
    (settings,) = re.findall(r"```json\n(.*?)```", section.split("\n## ")[0], re.S)
    file = tmp_path / "settings.json"

    def found(*more: str, **changed: Any) -> list[str]:
        file.write_text(json.dumps({**json.loads(settings), **changed}), encoding="utf-8")
        given = [*options.split(), "--rollout-batch-size", "8", "--n-samples-per-prompt", "4", *more]
        return [one.where for one in _check_slime.configured([*given, "--custom-config-path", str(file)], tmp_path)]

    ours = ("--rollout-function-path", "rollflex.adapters.slime.generate_rollout")
    assert found() == found(*ours, rollflex={"responseSpeculation": 1}) == []
    assert found(rollflex_selection={"fill": "kept"}) == ["rollflex_selection"]
    assert found("--rollout-all-samples-process-path", "mine.process") == ["--rollout-all-samples-process-path"]
    assert found(*ours) == ["rollflex"]
    assert found(*ours, rollflex_policy="lossless-tail") == ["rollflex_policy"]


def _setting(line: str) -> tuple[str, Any]:
    """As much of YAML as stands there."""
    name, _, value = line.partition(": ")
    if not value.startswith("{"):
        return name, value
    return name, json.loads(re.sub(r"(\w+):", r'"\1":', value))
