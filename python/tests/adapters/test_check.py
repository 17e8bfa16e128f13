"""``python -m rollflex.adapters.<name> --check``, beside doubles of the frameworks' source."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rollflex import Client, __version__
from rollflex.adapters import _check, _check_nemo_rl, _check_roll, _check_slime, _check_trl, _check_verl, _server
from rollflex.adapters._check import Finding, Framework, ran_version, refuse, try_policy
from rollflex.adapters._config import Config, configured
from rollflex.adapters._hooks import Hook, missing
from support import Served, environment, root

modules: dict[str, Any] = {
    "verl": _check_verl,
    "slime": _check_slime,
    "nemo_rl": _check_nemo_rl,
    "roll": _check_roll,
    "trl": _check_trl,
}


@pytest.fixture(scope="module")
def one_client() -> Iterator[Client]:
    with Client() as one:
        yield one


@pytest.fixture
def quick(one_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """One engine for all that is asked, which the check makes anew each time."""
    real = _server.client

    def shared(server: Any) -> Any:
        return contextlib.nullcontext(one_client) if server is None else real(server)

    monkeypatch.setattr(_server, "client", shared)


def source_of(hooks: Sequence[Hook]) -> str:
    """A file in which everything is that the hooks need, and nothing else."""
    members: dict[str, list[str]] = defaultdict(list)
    loose: list[str] = []
    classes = {one.name.split(".")[0] for one in hooks if one.sets or one.only or "." in one.name}
    for one in hooks:
        if not one.name:
            loose += [f"{name} = None\nfrom x import {name}" for name in one.sets]
            continue
        owner, _, method = one.name.partition(".")
        body = f"call({', '.join(f'{name}=0' for name in one.passes)})" if one.passes else "pass"
        if method:
            members[owner].append(f"    def {method}(self, {', '.join(one.takes)}): {body}")
        elif owner in classes or (one.takes and one.name[0].isupper()):
            members[owner] += [f"    {name}: int" for name in one.takes]
            held = "".join(f"self.{name} = " for name in one.sets)
            called = "; ".join(f"self.{one.of}.{name}()" for name in one.only) if one.of else ""
            members[owner].append(f"    def _made(self): {f'{held}0' if held else 'pass'}; {called or 'pass'}")
            if one.only and not one.of:
                own = {each.name for each in hooks}
                members[owner] += [f"    def {name}(self): pass" for name in one.only if f"{owner}.{name}" not in own]
        else:
            loose.append(f"def {one.name}({', '.join(one.takes)}): {body}")
    return "\n".join([*loose, *(f"class {name}:\n" + "\n".join(lines) for name, lines in members.items())])


def make(folder: Path, framework: Framework) -> None:
    files: dict[tuple[str, str], list[Hook]] = defaultdict(list)
    for one in framework.hooks:
        files[one.package or framework.package, one.file].append(one)
    for (package, file), hooks in files.items():
        path = folder / package / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source_of(hooks))


def run(name: str, folder: Path, *argv: str) -> tuple[int, str]:
    """The command, in a process of its own: it must not import the framework."""
    env = environment(folder)
    env.pop("ROLLFLEX_SERVER", None)
    words = [sys.executable, "-m", f"rollflex.adapters.{name}", *argv]
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=folder, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", modules)
def test_hooks_that_are_there_and_each_that_is_not(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    framework: Framework = modules[name].framework
    make(tmp_path, framework)
    for one in framework.hooks:
        place = tmp_path / (one.package or framework.package)
        assert missing(place, one) == [], one.where
        if one.takes:
            more = replace(one, takes=(*one.takes, "else_"))
            assert missing(place, more) == ["does not take else_"], one.where
        if one.sets:
            assert missing(place, replace(one, sets=(*one.sets, "else_"))) == ["has no else_"], one.where
        if one.only:
            (wrong,) = missing(place, replace(one, only=one.only[1:]))
            assert wrong == f"asks for {one.only[0]}, which the adapter does not have"
        if one.passes:
            (wrong,) = missing(place, replace(one, passes=one.passes[1:]))
            assert one.passes[0] in wrong
        if one.name:
            assert missing(place, replace(one, name="Else")) == ["does not exist"]
        assert missing(place, replace(one, file="else.py")) == ["there is no such file"]


def test_the_adapters_have_what_their_hooks_say() -> None:
    import inspect

    from rollflex.adapters import nemo_rl, roll, verl

    given = [*inspect.signature(verl.TailBatchingSampler).parameters]
    assert given == list(_check_verl._given)
    assert [*inspect.signature(verl.TailBatchingSampler.configure).parameters][1:] == list(_check_verl._settings)
    for names, kind in (
        (_check_verl._asked, verl.TailBatchingSampler),
        (_check_nemo_rl._asked, nemo_rl.TailBatchingSampler),
    ):
        assert all(hasattr(kind, one) for one in names)
    assert set([*inspect.signature(nemo_rl.TailBatchingSampler).parameters][1:]) == set(_check_nemo_rl._settings)
    assert (roll.TailBatchingLoop.__module__, "TailBatchingLoop") == _check_roll._base


def test_a_command_says_what_is_wrong_in_a_line_each(tmp_path: Path) -> None:
    make(tmp_path, _check_nemo_rl.framework)
    settings: Any = {
        "grpo": {"num_prompts_per_step": 16, "async_grpo": None},
        "async_rl": {"max_buffered_rollouts": "${async_rl.room}", "room": 64},
        "loss_fn": {"use_importance_sampling_correction": True},
    }
    (tmp_path / "base.yaml").write_text(json.dumps(settings))
    sampler = {"name": "custom", "target": "rollflex.adapters.nemo_rl:TailBatchingSampler", "max_staleness_versions": 6}
    (tmp_path / "job.yaml").write_text(json.dumps({"defaults": "base.yaml", "async_rl": {"sampler": sampler}}))
    code, out = run("nemo_rl", tmp_path, "--check", "--config", "job.yaml")
    assert code == 0, out
    assert out.splitlines()[0].startswith(f"rollflex {__version__}, Python 3.")
    assert "hooks: 17, all as needed" in out and out.endswith("nothing found that would not work\n")
    assert "note  nemo_rl of an unknown version: rollflex was tried with 7ea279a" in out
    code, out = run(
        *("nemo_rl", tmp_path, "--check", "--config", "job.yaml", "async_rl.room=62", "async_rl.rom=3"),
        *("async_rl.sampler.max_staleness_versions=1", "loss_fn.use_importance_sampling_correction=false"),
        *("grpo.async_grpo=1", "+async_rl.sampler.prompt_speculation=1.5"),
    )
    wrong = [line for line in out.splitlines() if line.startswith("wrong ")]
    assert (code, len(wrong), out.splitlines()[-1]) == (1, 4, "would not work: 4 findings")
    for one in (
        "async_rl.rom: the framework has no such setting; write +async_rl.rom=3, if it is right",
        "grpo.async_grpo: the single controller refuses it; write null",
        "loss_fn.use_importance_sampling_correction: groups are older than the weights that they train; write true",
        "async_rl.sampler.max_staleness_versions: expected at least 2 with max_lookahead_versions 1, got 1",
    ):
        assert any(line.startswith(f"wrong {one}") for line in wrong), (one, out)
    code, out = run("nemo_rl", tmp_path, "--check", "--config", "job.yaml", "async_rl.room=62")
    assert (
        code,
        "async_rl.max_buffered_rollouts: expected at least 63 with 16 prompts a step, got 62; write 63" in out,
    ) == (1, True)


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out = run("slime", tmp_path)
    assert (code, out) == (2, "usage: python -m rollflex.adapters.slime --check <the arguments of slime's train.py>\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for argv, said in (
        (["--check", "--config", "nothing.yaml"], "nothing.yaml: [Errno 2]"),
        (["--check", "--else"], "--else: expected --config FILE"),
        (["--check", "else"], "else: expected a.b=value"),
        (["--help"], "usage: python -m rollflex.adapters.roll"),
    ):
        assert _check.main(_check_roll.framework, _check_roll.configured, argv) == (0 if argv == ["--help"] else 2)
        assert said in capsys.readouterr().err


@pytest.mark.usefixtures("quick")
def test_what_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, how in (("verl", "pip install 'rollflex[verl]'"), ("roll", "put its checkout on PYTHONPATH")):
        framework = replace(modules[name].framework, package="nothing_like_this")
        assert _check.main(framework, modules[name].configured, ["--check"]) == 1
        out = capsys.readouterr().out
        assert f"wrong nothing_like_this: is not installed; {how}" in out
        assert "note  configuration: none was given" in out
    framework = replace(_check_verl.framework, package="nothing_like_this")
    assert _check.main(framework, _check_verl.configured, ["--check", "trainer.v1.trainer_mode=sync"]) == 1
    said = capsys.readouterr()
    assert "would not work: 1 finding" in said.out and said.err == ""
    make(tmp_path, _check_roll.framework)
    (tmp_path / "roll" / "distributed" / "scheduler" / "router.py").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    git = tmp_path / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "packed-refs").write_text("# pack-refs\n8eb27cc2d00000000000000000000000000000000 refs/heads/main\n")
    assert _check.main(_check_roll.framework, _check_roll.configured, ["--check"]) == 1
    out = capsys.readouterr().out
    assert f"roll 8eb27cc2d, {tmp_path / 'roll'}" in out and "was tried with" not in out
    assert "hooks: 13, 2 not as needed" in out
    assert "wrong distributed/scheduler/router.py, RouterManager: there is no such file; use roll 8eb27cc" in out


@pytest.mark.usefixtures("quick")
def test_verl_settings() -> None:
    def said(*overrides: str) -> list[str]:
        config = Config({}, known=False)
        for one in overrides:
            config.override(one)
        return [str(one) for one in _check_verl.problems(config)]

    sampler = "trainer.v1.sampler"
    fine = (
        "trainer.v1.trainer_mode=colocate_async",
        "trainer.v1.colocate_async.num_warmup_batches=0",
        f"{sampler}.max_off_policy_threshold=5",
        f"{sampler}.custom_sampler.path=pkg://rollflex.adapters.verl",
        f"{sampler}.custom_sampler.name=TailBatchingSampler",
        "data.train_batch_size=16",
    )
    assert said(*fine) == []
    for override, expected in (
        ("trainer.use_v1=false", "trainer.use_v1: the old trainer has no samplers; write trainer.use_v1=True"),
        ("trainer.v1.trainer_mode=sync", "trainer.v1.trainer_mode: sync ends a step by putting its engines to sleep"),
        ("trainer.v1.trainer_mode=else", "trainer.v1.trainer_mode: verl has no else; expected colocate_async or"),
        (f"{sampler}.max_off_policy_threshold=2", f"{sampler}.max_off_policy_threshold: expected at least 3"),
        (f"~{sampler}.custom_sampler.name", f"{sampler}.custom_sampler: verl's own is used; write {sampler}.custom"),
        (f"{sampler}.custom_sampler.name=Mine", f"{sampler}.custom_sampler: is pkg://rollflex.adapters.verl, Mine"),
        (
            f"+{sampler}.sampler_kwargs.speculation=2",
            f"{sampler}.sampler_kwargs.speculation: is not a setting; expected",
        ),
        (f"+{sampler}.sampler_kwargs.prompt_speculation=0.5", f"{sampler}.sampler_kwargs: "),
        ("algorithm.filter_groups.enable=true", "algorithm.filter_groups.enable: a custom sampler does not see it"),
        ("skip.rollout_tq.enable=true", "skip.rollout_tq.enable: this sampler skips no rollouts"),
        ("trainer.v1.colocate_async.num_warmup_batches=1.5", "trainer.v1.colocate_async.num_warmup_batches: 1.5: with"),
        ("trainer.v1.colocate_async.parameter_sync_step=3", "data.train_batch_size: 16 prompts cannot be divided"),
    ):
        (one,) = said(*fine, override)
        assert one.startswith(expected), one
    warm = "trainer.v1.separate_async.num_warmup_batches=3.5"
    assert any(
        "expected at least 6 with num_warmup_batches 3.5" in one
        for one in said(*fine, "trainer.v1.trainer_mode=separate_async", warm)
    )


@pytest.mark.usefixtures("quick")
def test_slime_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROLLFLEX_SERVER", raising=False)
    file = tmp_path / "rollflex.yaml"

    def said(*more: str, **settings: Any) -> list[str]:
        file.write_text(json.dumps(settings))
        ours = (
            *("--rollout-function-path", "rollflex.adapters.slime.generate_rollout"),
            *("--data-source-path", "rollflex.adapters.slime.RollflexDataSource", "--rollout-batch-size", "8"),
            *("--custom-config-path", str(file), "--lr", "1e-6"),
        )
        return [str(one) for one in _check_slime.configured([*ours, *more], tmp_path)]

    assert said(rollflex={"promptSpeculation": 1.25}, rollflex_options={"unreachable_seconds": 120}) == []
    for more, settings, expected in (
        (
            ["--rollout-function-path", "x.y"],
            {},
            "--rollout-function-path: is x.y; write rollflex.adapters.slime.generate",
        ),
        (["--data-source-path", "x.y"], {}, "--data-source-path: x.y must be a class that derives from rollflex.adapt"),
        (["--over-sampling-batch-size", "16"], {}, "--over-sampling-batch-size: has no effect with this rollout fun"),
        ([], {"rollflex_placment": "policy"}, "rollflex_placment: is not a setting; expected one of rollflex, rollfl"),
        ([], {"rollflex_placement": "x"}, "rollflex_placement: expected router or policy, got 'x'"),
        ([], {"rollflex_affinity": "x"}, "rollflex_affinity: expected none or prompt, got 'x'"),
        (
            [],
            {"rollflex": {"filter": "none"}},
            "args.rollflex: filter follows from slime's own arguments; leave it out",
        ),
        ([], {"rollflex_options": {"x": 1}}, "rollflex_options.x: is not a setting; expected one of abort_seconds"),
        ([], {"rollflex": {"promptSpeculation": 0}}, "rollflex: "),
        ([], {"rollflex_server": "/nothing.sock"}, "server: "),
    ):
        (one,) = said(*more, **settings)
        assert one.startswith(expected), one
    selects = ("--data-source-path", "rollflex.adapters.slime_selection.PromptSelectionDataSource")
    learns = ("--rollout-all-samples-process-path", "rollflex.adapters.slime_selection.learn")

    def selecting(*argv: str, **settings: Any) -> list[str]:
        file.write_text(json.dumps(settings))
        sizes = ("--rollout-batch-size", "8", "--n-samples-per-prompt", "4", "--custom-config-path", str(file))
        return [str(one) for one in _check_slime.configured([*argv, *sizes], tmp_path)]

    assert selecting(*selects, *learns, rollflex_selection={"threshold": 2}) == []
    nothing = (
        "--rollout-all-samples-process-path: nothing is learnt of rewards; write rollflex.adapters.slime_selection"
    )
    cases: tuple[tuple[tuple[str, ...], dict[str, Any], str], ...] = (
        (learns, {}, f"--data-source-path: slime's own is used; write {selects[1]}"),
        ((selects[0], f"{selects[1]}s", *learns), {}, f"--data-source-path: is {selects[1]}s; write {selects[1]}"),
        (selects, {}, nothing),
        ((*selects, learns[0], f"{learns[1]}s"), {}, nothing),
        ((*selects, *learns), {"rollflex_selecton": {}}, "rollflex_selecton: is not a setting; expected one of"),
        ((*selects, *learns), {"rollflex_selection": 5}, "rollflex_selection: expected settings by name, got 5"),
    )
    for argv, changed, expected in cases:
        (one,) = selecting(*argv, **changed)
        assert one.startswith(expected), one
    wrong = _check_slime.configured([*selects, learns[0], f"{learns[1]}s", "--rollout-batch-size", "8"], tmp_path)
    assert not wrong[0].note
    found = [str(one) for one in _check_slime.configured([], tmp_path)]
    assert [one.split(":")[0] for one in found] == [
        "--rollout-batch-size",
        "--rollout-function-path",
        "--data-source-path",
    ]


@pytest.mark.usefixtures("quick")
def test_roll_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_loop.py").write_text(
        "from rollflex.adapters.roll import TailBatchingLoop\n"
        "class Loop(TailBatchingLoop):\n    pass\n"
        "class Odd(TailBatchingLoop):\n    policy = {'maxDeferrals': -1}\n"
        "class Other:\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    fine = {
        "user_defined_rollout_loop_cls": "my_loop.Loop",
        "is_num_return_sequences_expand": True,
        "is_use_additional_prompts": True,
        "max_additional_running_prompts": 10,
        "rollout_batch_size": 8,
        "num_return_sequences_in_group": 4,
    }

    def said(**settings: Any) -> list[str]:
        return [str(one) for one in _check_roll.problems(Config({**fine, **settings}))]

    assert said() == []
    halves = {"actor_train": {"data_args": {"domain_interleave_probs": {"a": 0.5, "b": 0.5}}}}
    assert said(max_additional_running_prompts=5, **halves) == []
    for name, value, expected in (
        ("user_defined_rollout_loop_cls", None, "user_defined_rollout_loop_cls: ROLL's own loop is used; write the"),
        (
            "user_defined_rollout_loop_cls",
            "my_lop.Loop",
            "user_defined_rollout_loop_cls: my_lop.Loop cannot be imported",
        ),
        ("user_defined_rollout_loop_cls", "my_loop.Other", "user_defined_rollout_loop_cls: my_loop.Other is no class"),
        ("user_defined_rollout_loop_cls", "my_loop.Odd", "my_loop.Odd.policy: "),
        ("is_num_return_sequences_expand", False, "is_num_return_sequences_expand: expected true, each response is"),
        ("max_additional_running_prompts", 9, "max_additional_running_prompts: expected is_use_additional_prompts and"),
        ("is_use_additional_prompts", False, "max_additional_running_prompts: expected is_use_additional_prompts and"),
        ("generate_opt_level", 0, "generate_opt_level: expected 1, which has a scheduler, got 0; write 1"),
    ):
        (one,) = said(**{name: value})
        assert one.startswith(expected), one


@pytest.mark.usefixtures("quick")
def test_trl_arguments(tmp_path: Path) -> None:
    assert _check_trl.configured([], tmp_path) == []
    (one,) = _check_trl.configured(["max_staleness=1"], tmp_path)
    assert "expected at least 3, got 1: samples may wait" in str(one)
    for odd in ("else=1", "max_staleness", "max_staleness=x"):
        with pytest.raises(_check.WrongUse, match="expected"):
            _check_trl.configured([odd], tmp_path)


def test_a_server_that_is_named_is_asked(short: Path, served: Served) -> None:
    path = short / "s"
    assert try_policy({"path": str(path)}, {"promptsPerRound": 1, "responsesPerPrompt": 2}) == []
    (one,) = try_policy({"path": str(path)}, {"promptsPerRound": 0, "responsesPerPrompt": 2}, "here")
    assert str(one).startswith("here: ") and "promptsPerRound" in str(one)
    path = short / "nobody"
    (one,) = try_policy({"path": str(path)})
    assert (one.where, one.instead) == ("server", "start it: rollflex serve, or leave the server out")
    (one,) = try_policy({"else": 1})
    assert one.where == "server"


def test_refusals_and_versions(tmp_path: Path) -> None:
    refuse([Finding("a", "is odd", note=True)])
    with pytest.raises(ValueError, match="^a.b: is wrong; write 1$"):
        refuse([Finding("a", "is odd", note=True), Finding("a.b", "is wrong", "write 1")])
    # One place says which version was run, and where: the extras.
    pyproject = (root / "python" / "pyproject.toml").read_text()
    for name in ("verl", "trl", "ray"):
        extra = re.search(rf'^{name} = \["{name}>=([\d.]+),', pyproject, re.M)
        assert extra and ran_version(name) == extra[1]
        page = root / "docs" / ("ray.md" if name == "ray" else f"adapters/{name}.md")
        if page.exists():
            assert extra[1] in page.read_text()
    assert ran_version("nothing") is None
    file = tmp_path / "a.yaml"
    file.write_text("[1]")
    with pytest.raises(_check.WrongUse, match="expected settings with names, got list"):
        configured(["--config", str(file)])


def test_what_the_page_shows_is_what_is_said(tmp_path: Path) -> None:
    page = (root / "docs" / "python.md").read_text()
    (shown,) = re.findall(r"^```text\n(\$ python -m rollflex\.adapters\..*?)^```$", page, re.M | re.S)
    prompt, *lines = shown.splitlines()
    words = prompt.split()
    name = words[3].rpartition(".")[2]
    make(tmp_path, modules[name].framework)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("624b824a898ab0ec1fcb4d373004c7f3852bf515\n")
    code, out = run(name, tmp_path, *words[4:])
    assert (code, out.splitlines()[2:]) == (1, lines[2:])
    assert lines[1].startswith(f"{name} 624b824a8, ") and out.splitlines()[1].startswith(f"{name} 624b824a8, ")


@pytest.mark.parametrize("name", ["verl", "slime", "nemo-rl", "roll", "trl"])
def test_a_page_begins_with_the_check(name: str) -> None:
    page = (root / "docs" / "adapters" / f"{name}.md").read_text()
    section = page.split("## From nothing to a run")[1].split("\n## ")[0]
    assert f"python -m rollflex.adapters.{name.replace('-', '_')} --check" in section
