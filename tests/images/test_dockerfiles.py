"""What can be said of the images without building them: part of `make test`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kokoro_model.build import SPLIT_FILES
from stacks.settings.instances import CUDA_MAJOR_BY_AMI, IMAGE_CUDA_MAJOR

ROOT = Path(__file__).parents[2]
CONTEXTS = ["container", "agent"]


def instructions(context: str) -> list[tuple[str, str]]:
    """The Dockerfile's instructions as (keyword, argument), comments and line breaks resolved."""
    lines = (ROOT / context / "Dockerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", text)
    return [
        (keyword.upper(), argument.strip())
        for keyword, argument in (line.split(" ", 1) for line in joined.splitlines() if line)
    ]


def arguments(context: str, keyword: str) -> list[str]:
    return [argument for name, argument in instructions(context) if name == keyword]


def ignore_patterns(context: str) -> list[str]:
    lines = (ROOT / context / "Dockerfile.dockerignore").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def locked(lock: str) -> dict[str, str]:
    """Names and versions in a lock."""
    pairs = re.findall(r"^([a-z0-9._-]+)==([^ ;]+)", (ROOT / lock).read_text(), re.MULTILINE)
    return dict(pairs)


def copied_from_context(context: str) -> set[str]:
    """What COPY takes from the context, as paths from the repository's root."""
    return {
        source
        for argument in arguments(context, "COPY")
        if not argument.startswith("--from=")
        for source in argument.split()[:-1]
    }


@pytest.mark.parametrize("context", CONTEXTS)
def test_hadolint_has_no_complaint(context: str) -> None:
    """Unpinned bases, shell-form commands and the like."""
    hadolint = Path(sys.executable).with_name("hadolint")
    result = subprocess.run(
        [hadolint, ROOT / context / "Dockerfile"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.stdout + result.stderr, result.returncode) == ("", 0)


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_stage_can_be_put_on_another_base(context: str) -> None:
    """A fixed FROM could be built neither from a private mirror nor without a registry."""
    keyword, argument = instructions(context)[0]
    assert keyword == "ARG"
    name, default = argument.split("=")
    assert name == "BASE_IMAGE"
    assert not default.endswith(":latest")
    assert ":" in default
    stages = [value.split(" AS ") for value in arguments(context, "FROM")]
    named: set[str] = set()
    for base, *alias in stages:
        bases = {base.replace("${VARIANT}", variant) for variant in ("cpu", "gpu")}
        assert bases == {"${BASE_IMAGE}"} or bases <= named
        named.update(alias)


def test_sagemaker_finds_the_label_and_an_entrypoint_that_takes_serve() -> None:
    """SageMaker refuses streams without the label, and appends `serve` only to an exec form."""
    label = "com.amazonaws.sagemaker.capabilities.bidirectional-streaming=true"
    assert label in arguments("container", "LABEL")
    assert json.loads(arguments("container", "ENTRYPOINT")[-1]) == ["python", "-m", "kokoro_server"]
    # SageMaker runs it as root; a USER could not read what it mounts.
    assert arguments("container", "USER") == []


def test_the_agent_is_not_root_and_not_bound_to_one_architecture() -> None:
    """AgentCore runs arm64 only: an x86 platform or package ends in `exec format error`."""
    assert int(arguments("agent", "USER")[-1]) > 0
    assert json.loads(arguments("agent", "ENTRYPOINT")[-1]) == ["python", "-m", "voice_agent"]
    text = " ".join(argument for _, argument in instructions("agent"))
    assert re.search(r"x86|amd64|--platform", text) is None


@pytest.mark.parametrize("context", CONTEXTS)
def test_the_context_holds_only_what_is_copied(context: str) -> None:
    """Compiled files and notes in the context change the asset's hash, and roll out nothing new."""
    patterns = ignore_patterns(context)
    assert patterns[0] == "*"
    readmitted = {pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")}
    assert readmitted == copied_from_context(context)
    last_readmitted = max(i for i, pattern in enumerate(patterns) if pattern.startswith("!"))
    assert {"**/__pycache__", "**/*.pyc"} <= set(patterns[last_readmitted + 1 :])


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_package_is_held_to_a_hash(context: str) -> None:
    """One `pip install` without it, and the image is whatever the index serves that day."""
    installs = [
        command
        for argument in arguments(context, "RUN")
        for command in argument.split("&&")
        if "pip" in command and " install " in command
    ]
    assert installs
    assert [command for command in installs if "--require-hashes" not in command] == []


@pytest.mark.parametrize(
    "lock",
    [
        "container/requirements.txt",
        "container/kokoro_model/requirements.txt",
        "agent/requirements.txt",
    ],
)
def test_no_torch_in_any_lock(lock: str) -> None:
    """torch and its CUDA packages would add gigabytes, and their advisories, to an image."""
    names = locked(lock)
    assert names
    assert [name for name in names if re.match(r"torch|nvidia|triton|cuda", name)] == []


def test_variants_differ_in_the_engine_only() -> None:
    """A package that only one variant's lock has, or has otherwise, is tested by nobody."""
    cpu, gpu = locked("container/requirements.txt"), locked("container/requirements-gpu.txt")
    assert [name for name in gpu if re.match(r"torch|triton", name)] == []
    only_gpu = {name for name in gpu if not name.startswith("nvidia-")} - {"onnxruntime-gpu"}
    assert only_gpu == cpu.keys() - {"onnxruntime"}
    assert {name: gpu[name] for name in only_gpu} == {name: cpu[name] for name in only_gpu}


def test_a_gpu_image_cannot_run_on_the_cpu_unnoticed() -> None:
    """Without the first it falls back to the CPU; without the others it is given no GPU."""
    environment = " ".join(arguments("container", "ENV"))
    for setting in (
        "KOKORO_EXECUTION_PROVIDER=cuda",
        "NVIDIA_VISIBLE_DEVICES=all",
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    ):
        assert setting in environment


def test_cuda_of_image_and_host_are_one_pair() -> None:
    """An image of another CUDA major than the host's driver does not start, or hangs."""
    gpu = locked("container/requirements-gpu.txt")
    # Which CUDA a release is built for: https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html
    assert gpu["onnxruntime-gpu"].startswith("1.31.")
    majors = {int(gpu[name].split(".")[0]) for name in ("nvidia-cuda-runtime", "nvidia-cublas")}
    assert majors == {IMAGE_CUDA_MAJOR}
    assert f"nvidia-cudnn-cu{IMAGE_CUDA_MAJOR}" in gpu
    assert IMAGE_CUDA_MAJOR in CUDA_MAJOR_BY_AMI.values()


def test_each_variant_keeps_the_graphs_of_its_device() -> None:
    """The other way round the image would be built, and never become healthy."""
    (build,) = [
        argument for argument in arguments("container", "RUN") if "-m kokoro_model " in argument
    ]
    always, rest = build.split("if [")
    gpu, cpu = rest.split("else")
    assert '"${VARIANT}" = gpu' in gpu
    removed = [set(re.findall(r"/opt/model/(\S+\.onnx)", part)) for part in (always, gpu, cpu)]
    assert removed == [
        {"kokoro-v1.0.fp32.onnx"},
        {name for part, name in SPLIT_FILES.items() if part.endswith("_cpu")},
        {name for part, name in SPLIT_FILES.items() if not part.endswith("_cpu")},
    ]
