"""Build a model directory: fetch, verify, convert and self-test, then move it into place.

A model directory contains:

- the graphs that the server runs, for GPUs (``prosody.onnx``, ``generator.onnx``,
  ``generator-exact.onnx``) and for CPUs (``prosody-cpu.onnx`` …); an image keeps only those for its
  device;
- the graph they were cut from (``kokoro-v1.0.fp32.onnx``), for comparison; images leave it out;
- ``vocab.json``, an object from phoneme to id;
- ``voices/NAME.bin``, float32, little endian, (510, 1, 256);
- ``manifest.json``, see `BuiltManifest`.
"""

import fcntl
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import helper
from pydantic import ValidationError

from kokoro_model import cpu_generator, cpu_prosody
from kokoro_model.archives import read_graph, read_vocabulary, read_voices
from kokoro_model.dequantise import dequantise
from kokoro_model.errors import ModelBuildError
from kokoro_model.fetch import fetch, sha256_of
from kokoro_model.manifest import (
    MANIFEST_PATH,
    BuiltFile,
    BuiltManifest,
    Manifest,
    OutputFile,
    SourceFile,
    SourceName,
    load_manifest,
    manifest_sha256,
)
from kokoro_model.self_test import VOICE, compare_split, self_test
from kokoro_model.split import split

SPLIT_FILES = {
    "prosody": "prosody.onnx",
    "prosody_cpu": "prosody-cpu.onnx",
    "generator": "generator.onnx",
    "generator_exact": "generator-exact.onnx",
    "generator_cpu": "generator-cpu.onnx",
    "generator_exact_cpu": "generator-exact-cpu.onnx",
}
"""The file of each subgraph: those of a `SplitModel`, and the same rewritten for CPUs."""

# The packages that determine the graph and the self-test.
_TOOLS = ("numpy", "onnx", "onnxruntime")


def build(
    out: Path,
    source: SourceName = "packages",
    *,
    manifest_path: Path = MANIFEST_PATH,
) -> None:
    """Make sure that `out` is an intact model directory. Build it if it is not.

    The build takes place in a directory beside `out`, which is renamed at the end, under a lock.
    Therefore `out` is never half-written, and concurrent builds wait for each other. Progress goes
    to stderr.

    Raises:
        ModelBuildError: The model cannot be built. Nothing is left behind and `out` is unchanged.
        OSError: The disk is full or cannot be written to. Again `out` is unchanged.
    """
    out = out.absolute()
    manifest = load_manifest(manifest_path)
    if out.exists():
        _refuse_other_content(out, manifest.graph(source).name)
    out.parent.mkdir(parents=True, exist_ok=True)
    with _locked(out.parent / f".{out.name}.lock"):
        problem = find_damage(out, source, manifest_path=manifest_path)
        if problem is None:
            _report(f"{out}: intact")
            return
        if out.exists():
            _report(f"{out}: {problem}; building it again")
        work = out.parent / f".{out.name}.building"
        # Remove what a killed build left behind. We hold the lock, so no other build uses it.
        shutil.rmtree(work, ignore_errors=True)
        try:
            (work / "downloads").mkdir(parents=True)
            (work / "model").mkdir()
            _build_in(work, source, manifest, manifest_sha256(manifest_path))
            _replace(out, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def find_damage(
    directory: Path, source: SourceName = "packages", *, manifest_path: Path = MANIFEST_PATH
) -> str | None:
    """Return why `directory` is not an intact build of `source`, or None if it is.

    Every file is hashed, which takes about a second.
    """
    try:
        content = (directory / "manifest.json").read_text("utf-8")
        built = BuiltManifest.model_validate_json(content)
    except FileNotFoundError:
        return "manifest.json is missing"
    except (ValidationError, UnicodeDecodeError, NotADirectoryError):
        return "manifest.json is damaged"
    if built.source != source or built.manifest_sha256 != manifest_sha256(manifest_path):
        return "it was built from another manifest or source"
    for file in built.files:
        path = directory / file.name
        if not path.is_file():
            return f"{file.name} is missing"
        if path.stat().st_size != file.size_bytes:
            return f"{file.name} has the wrong size"
        if sha256_of(path) != file.sha256:
            return f"{file.name} has the wrong sha256"
    return None


def _build_in(work: Path, source: SourceName, manifest: Manifest, manifest_hash: str) -> None:
    inputs = manifest.files(source)
    model_dir = work / "model"

    total_mb = sum(file.size_bytes for file in inputs) / 1e6
    _report(f"fetching {len(inputs)} files, {total_mb:.0f} MB")
    paths = fetch(inputs, work / "downloads")

    def of_role(role: str) -> list[tuple[SourceFile, Path]]:
        return [(file, paths[file.name]) for file in inputs if file.role == role]

    _report("converting")
    graph = manifest.graph(source)
    _write_graph([path for _, path in of_role("graph")], graph, model_dir / graph.name)
    _write_subgraphs(model_dir, graph)
    files = [_built(model_dir, name, graph.licence) for name in (graph.name, *SPLIT_FILES.values())]

    ((vocabulary_file, vocabulary_path),) = of_role("vocabulary")
    vocabulary = read_vocabulary(vocabulary_path)
    (model_dir / "vocab.json").write_text(
        json.dumps(vocabulary, ensure_ascii=False, indent=0) + "\n", "utf-8"
    )
    files.append(_built(model_dir, "vocab.json", vocabulary_file.licence))

    (model_dir / "voices").mkdir()
    for voices_file, voices_path in of_role("voices"):
        for name, content in read_voices(voices_path):
            (model_dir / "voices" / f"{name}.bin").write_bytes(content)
            files.append(_built(model_dir, f"voices/{name}.bin", voices_file.licence))
    voices = len(list((model_dir / "voices").iterdir()))
    if voices != manifest.voices:
        raise ModelBuildError(
            f"{source}: expected {manifest.voices} voices, found {voices}; correct `voices` in "
            "manifest.toml if this is intended"
        )

    _report("self-test")
    voice = model_dir / "voices" / f"{VOICE}.bin"
    measures = self_test(model_dir / graph.name, voice, vocabulary)
    split_files = {key: model_dir / name for key, name in SPLIT_FILES.items()}
    split_measures = compare_split(model_dir / graph.name, split_files, voice, vocabulary)
    built = BuiltManifest(
        source=source,
        manifest_sha256=manifest_hash,
        versions={name: version(name) for name in _TOOLS},
        inputs=tuple(inputs),
        files=tuple(files),
        self_test={**asdict(measures), **split_measures},
    )
    (model_dir / "manifest.json").write_text(built.model_dump_json(indent=1) + "\n", "utf-8")


def _write_graph(slices: list[Path], expected: OutputFile, path: Path) -> None:
    serialised = read_graph(slices)
    if expected.source == "packages":
        try:
            model = onnx.load_model_from_string(serialised)
        except DecodeError as error:
            raise ModelBuildError(f"{slices[0].name} …: not an ONNX model: {error}") from error
        serialised = dequantise(model).SerializeToString(deterministic=True)
    path.write_bytes(serialised)
    sha256 = sha256_of(path)
    if (len(serialised), sha256) != (expected.size_bytes, expected.sha256):
        raise ModelBuildError(
            f"{expected.name}: the conversion gave {len(serialised)} bytes with sha256 {sha256}, "
            f"expected {expected.size_bytes} with {expected.sha256}; install the versions locked "
            "in container/kokoro_model/requirements.txt or, after a change to the conversion, "
            "record the new values in manifest.toml"
        )


def _write_subgraphs(model_dir: Path, graph: OutputFile) -> None:
    subgraphs = dict(vars(split(onnx.load(model_dir / graph.name))))
    subgraphs["prosody_cpu"] = cpu_prosody.for_cpu(subgraphs["prosody"])
    for name in ("generator", "generator_exact"):
        subgraphs[f"{name}_cpu"] = cpu_generator.for_cpu(subgraphs[name])
    for name, subgraph in subgraphs.items():
        helper.set_model_props(subgraph, {"source_sha256": graph.sha256})
        (model_dir / SPLIT_FILES[name]).write_bytes(subgraph.SerializeToString(deterministic=True))


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _built(model_dir: Path, name: str, licence: str) -> BuiltFile:
    path = model_dir / name
    return BuiltFile(
        name=name, size_bytes=path.stat().st_size, sha256=sha256_of(path), licence=licence
    )


def _refuse_other_content(out: Path, graph_name: str) -> None:
    """Refuse to replace a directory that this module did not build, whatever --out says."""
    ours = {graph_name, *SPLIT_FILES.values(), "vocab.json", "voices", "manifest.json"}
    entries = {entry.name for entry in out.iterdir()} if out.is_dir() else {out.name}
    if other := sorted(entries - ours):
        raise ModelBuildError(
            f"{out} is not a model directory: it holds {other[0]!r}; choose another --out"
        )


def _replace(out: Path, work: Path) -> None:
    """Move ``work/model`` to `out`, and a previous `out` into `work`, which the caller removes."""
    if out.exists():
        out.rename(work / "replaced")
    (work / "model").rename(out)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the advisory lock on the file at `path`. The system releases it if the process dies."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _report(f"waiting for another build of {path.parent}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
