"""Files as torch.save writes them, made here: a zip with a pickle, in which tensors are persistent ids."""

from __future__ import annotations

import io
import json
import pickle
import sys
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rollflex import importing


class Tensor:
    """Pickled as torch pickles a tensor: a function of torch with a storage, an offset, and a size."""

    def __init__(self, *size: int) -> None:
        self.size = size

    def __reduce__(self) -> Any:
        arguments: tuple[Any, ...] = (Storage(), 0, self.size, (1,), False, {})
        return sys.modules["torch._utils"]._rebuild_tensor_v2, arguments


class Storage:
    pass


class Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        return ("storage", Storage, "0", "cpu", 3) if isinstance(obj, Storage) else None


class Picture:
    """Of a class that only the trainer has."""

    def __init__(self) -> None:
        self.pixels = [1, 2]


class Bomb:
    def __reduce__(self) -> Any:
        return exec, ("import pathlib; pathlib.Path('bomb').touch()",)


@pytest.fixture
def torch_names() -> Iterator[None]:
    """The one function of torch that such a pickle names, while it is written."""
    module = types.ModuleType("torch._utils")

    def _rebuild_tensor_v2(*args: Any) -> None:
        raise AssertionError("nothing of torch is called")

    _rebuild_tensor_v2.__module__ = "torch._utils"
    _rebuild_tensor_v2.__qualname__ = "_rebuild_tensor_v2"
    module._rebuild_tensor_v2 = _rebuild_tensor_v2  # type: ignore[attr-defined]
    parent = types.ModuleType("torch")
    parent._utils = module  # type: ignore[attr-defined]
    before = {name: sys.modules.get(name) for name in ("torch", "torch._utils")}
    sys.modules.update({"torch": parent, "torch._utils": module})
    yield
    for name, old in before.items():
        if old is None:
            del sys.modules[name]
        else:
            sys.modules[name] = old


def save(path: Path, value: Any) -> Path:
    written = io.BytesIO()
    Pickler(written, protocol=2).dump(value)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{path.stem}/data.pkl", written.getvalue())
        archive.writestr(f"{path.stem}/data/0", b"\0" * 24)
        archive.writestr(f"{path.stem}/version", b"3\n")
    return path


def sample(**given: Any) -> dict[str, Any]:
    """What ``Sample.to_dict`` of slime gives, as far as an import looks at it, and a few fields beside that."""
    return {
        "group_index": 4,
        "index": 33,
        "rollout_id": None,
        "prompt": "What is 7 times 8?",
        "tokens": [1] * 30,
        "response": "56",
        "response_length": 20,
        "reward": 1.0,
        "status": "completed",
        "metadata": {},
        "multimodal_inputs": None,
    } | given


def lines_of(path: Path) -> list[dict[str, Any]]:
    return list(importing.slime_samples(path))


def test_samples_become_lines_of_numbers(tmp_path: Path, torch_names: None) -> None:
    samples = [
        sample(),
        sample(index=34, status="truncated", tokens=Tensor(90), response_length=64, reward={"acc": True, "pred": "56"}),
        sample(group_index=None, tokens=[], reward=float("nan"), multimodal_inputs={"images": [Picture()]}),
        sample(group_index=None, prompt=[{"role": "user", "content": "hi"}], rollout_routed_experts=Tensor(9, 2, 2)),
    ]
    first, second, third, fourth = lines_of(save(tmp_path / "rollout_7.pt", {"rollout_id": 7, "samples": samples}))
    assert first == {
        "step": 7,
        "group_index": 4,
        "index": 33,
        "rollout_id": None,
        "prompt_tokens": 10,
        "response_length": 20,
        "status": "completed",
        "reward": 1.0,
        "prompt": second["prompt"],
    }
    assert (second["prompt_tokens"], second["status"], second["reward"]) == (26, "truncated", {"acc": True})
    assert (third["prompt_tokens"], third["reward"], len(third["prompt"])) == (None, None, 20)
    assert third["prompt"] != fourth["prompt"]
    assert second["prompt"] == third["prompt"]
    assert "56" not in json.dumps([first, third, fourth]) and "times" not in json.dumps([first, third, fourth])


def test_nothing_in_a_file_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "evil.pt", {"rollout_id": 0, "samples": [sample(metadata={"x": Bomb()})]})
    assert lines_of(path)[0]["response_length"] == 20
    assert not (tmp_path / "bomb").exists()


def test_what_is_no_dump_of_slime_is_refused_by_name(tmp_path: Path) -> None:
    torn = save(tmp_path / "torn.pt", {"rollout_id": 0, "samples": [sample()] * 500})
    torn.write_bytes(torn.read_bytes()[:300])
    (tmp_path / "text.pt").write_text("hello")
    short = [sample(), sample(response_length=-1)]
    wrong = {
        "torn.pt": "a zip file",
        "text.pt": "a zip file",
        save(tmp_path / "weights.pt", {"layer": 1}).name: "a dict with 'samples'",
        save(tmp_path / "list.pt", [1]).name: "a dict with 'samples'",
        save(tmp_path / "length.pt", {"samples": short}).name: r"samples\[1\].response_length",
        save(tmp_path / "status.pt", {"samples": [sample(status=None)]}).name: r"samples\[0\].status",
        save(tmp_path / "number.pt", {"samples": [7]}).name: r"samples\[0\]: expected a dict, got int",
    }
    for name, message in wrong.items():
        with pytest.raises(importing.DumpError, match=message) as raised:
            lines_of(tmp_path / name)
        assert name in str(raised.value)


def test_a_broken_pickle_is_refused(tmp_path: Path) -> None:
    for index, content in enumerate([b"", b"\x80\x02}", b"\x80\x02ctorch\nTensor\nq\x00.", b"garbage"]):
        path = tmp_path / f"{index}.pt"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", content)
        with pytest.raises(importing.DumpError, match=str(path)):
            lines_of(path)
    with zipfile.ZipFile(tmp_path / "other.pt", "w") as archive:
        archive.writestr("readme", b"")
    with pytest.raises(importing.DumpError, match=r"without data\.pkl"):
        lines_of(tmp_path / "other.pt")


def test_the_command_writes_lines_and_says_what_is_wrong(tmp_path: Path) -> None:
    good = save(tmp_path / "rollout_1.pt", {"rollout_id": 1, "samples": [sample(), sample(index=34)]})
    out, err = io.StringIO(), io.StringIO()
    assert importing.main([str(good), str(good)], out, err) == 0
    assert [json.loads(line)["index"] for line in out.getvalue().splitlines()] == [33, 34, 33, 34]
    assert importing.main([str(good), str(tmp_path / "missing.pt")], io.StringIO(), err) == 2
    assert err.getvalue().startswith("rollflex.importing: ") and "missing.pt" in err.getvalue()
