"""Settings of the environments: what is accepted, and how each mistake is reported."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.settings.environment import Settings, SettingsError, environment_names, load
from stacks.settings.instances import CPU_FAMILIES, CUDA_MAJOR_BY_AMI, GPU_FAMILIES
from stacks.settings.regions import AGENTCORE_AZ_IDS, AGENTCORE_REGIONS

GPU_AMI = "al2023-ami-sagemaker-inference-gpu-4-1"
OLD_AMI = "al2-ami-sagemaker-inference-gpu-3-1"
DIGEST = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/kokoro@sha256:" + 64 * "0"
DIGEST_EXAMPLE = DIGEST.replace("eu-west-1", "eu-central-1").removesuffix(64 * "0")

CPU: dict[str, Any] = {
    "kind": "ephemeral",
    "speech": {"variant": "cpu", "instance_type": "ml.c7i.xlarge"},
}
GPU: dict[str, Any] = {
    "kind": "ephemeral",
    "speech": {
        "variant": "gpu",
        "instance_type": "ml.g5.xlarge",
        "inference_ami": GPU_AMI,
        "cuda_major": 13,
    },
}
VPC: dict[str, Any] = CPU | {
    "region": "eu-central-1",
    "agent": {"network": "vpc"},
    "network": {"az_ids": ["euc1-az1", "euc1-az2"]},
}


def changed(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """`base` with values at dotted paths, `a__b` for `a.b`; None takes a key away."""
    values = copy.deepcopy(base)
    for path, value in changes.items():
        *tables, key = path.split("__")
        table = values
        for name in tables:
            table = table.setdefault(name, {})
        if value is None:
            del table[key]
        else:
            table[key] = value
    return values


def toml(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f'"{key}" = {toml(item)}' for key, item in value.items())
        return "{" + inner + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)


def loaded(folder: Path, values: dict[str, Any], name: str = "test") -> Settings:
    lines = [f"{key} = {toml(value)}\n" for key, value in values.items()]
    (folder / f"{name}.toml").write_text("".join(lines))
    return load(name, folder)


def action(**changes: Any) -> dict[str, Any]:
    values = {"name": "night", "cron": "cron(0 19 ? * * *)", "minimum": 1, "maximum": 1}
    return {key: value for key, value in (values | changes).items() if value is not None}


JWT = {"discovery_url": "https://login.example.com/.well-known/openid-configuration"}

MISTAKES: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "unknown key",
        changed(CPU, colour="red"),
        ["colour: unknown key; use one of kind, account, region", "network"],
    ),
    (
        "unknown key inside",
        changed(CPU, speech__image={"place": DIGEST}),
        ["speech.image.place: unknown key; use one of source, uri"],
    ),
    (
        "misspelt key",
        changed(CPU, speech__instance_typ="ml.c7i.xlarge"),
        ["speech.instance_typ: unknown key; did you mean `instance_type`?"],
    ),
    (
        "the beginning of a key, which is like a table's name",
        changed(CPU, speech__instance="ml.c7i.xlarge"),
        ["speech.instance: unknown key; did you mean `instance_type`?"],
    ),
    (
        "a table whose name lacks a letter",
        changed(CPU, speech__instance={"minimum": 1, "maximum": 1}),
        ["speech.instance: unknown key; did you mean `instances`?"],
    ),
    (
        "misspelt key in an array of tables",
        changed(CPU, speech__schedule=[action(timezone="UTC")]),
        ["speech.schedule.0.timezone: unknown key; did you mean `time_zone`?"],
    ),
    (
        "a key of the top in a table",
        changed(CPU, speech__region="eu-central-1"),
        ["speech.region: unknown key; `region` belongs above the first table"],
    ),
    (
        "a key of tables at the top",
        changed(CPU, source="docker"),
        ["source: unknown key; `source` belongs in [speech.image] or in [agent.image]"],
    ),
    (
        "a table under another name",
        changed(CPU, instances={"minimum": 1, "maximum": 1}),
        ["instances: unknown key; `instances` is the table [speech.instances]"],
    ),
    (
        "a table and a key of one name",
        changed(CPU, speech__network="vpc"),
        ["speech.network: unknown key; `network` is the table [network] or belongs in [agent]"],
    ),
    (
        "a text instead of a table",
        changed(CPU, network="vpc"),
        ["network: must be a table, [network], not 'vpc'"],
    ),
    (
        "a table instead of an array of tables",
        changed(CPU, speech__schedule=action()),
        ["speech.schedule: must be an array of tables, [[speech.schedule]], not "],
    ),
    ("no kind", changed(CPU, kind=None), ["kind: is required"]),
    ("no speech", changed(CPU, speech=None), ["speech: is required"]),
    ("other kind", changed(CPU, kind="test"), ["kind: ", "'ephemeral'", "'stable'", "'test'"]),
    (
        "account as a number",
        changed(CPU, account=123456789012),
        ["account: ", "string", 'quote it: "123456789012"'],
    ),
    ("account as a truth value", changed(CPU, account=True), ["account: ", "string, not True"]),
    (
        "short account",
        changed(CPU, account="123"),
        ["account: '123'", r"^\d{12}$", "such as '123456789012'"],
    ),
    ("no Region", changed(CPU, region="europe"), ["region: 'europe'", "such as 'eu-central-1'"]),
    (
        "misspelt Region",
        changed(CPU, region="eu-centrl-1"),
        ["region: 'eu-centrl-1'", "did you mean eu-central-1?", *AGENTCORE_REGIONS],
    ),
    (
        "a Region that is like no other",
        changed(CPU, region="qq-zzzzz-1"),
        ["region: 'qq-zzzzz-1': AWS has no such Region; AgentCore runs in", *AGENTCORE_REGIONS],
    ),
    (
        "boundary by ARN",
        changed(CPU, permissions_boundary="arn:aws:iam::1:policy/x"),
        ["permissions_boundary: ", "arn:aws"],
    ),
    ("our own tag", changed(CPU, tags={"environment": "x"}), ["tags: 'environment'"]),
    ("AWS's tag", changed(CPU, tags={"aws:owner": "x"}), ["tags: 'aws:owner'"]),
    ("a long tag", changed(CPU, tags={"team": 257 * "x"}), ["tags: 'team'", "256"]),
    ("a tag AWS refuses", changed(CPU, tags={"team": "a|b"}), ["tags: 'team'", ".:/=+@_-"]),
    ("a tag's number", changed(CPU, tags={"team": 7}), ["tags.team: ", "string", "7"]),
    (
        "too many tags",
        changed(CPU, tags={f"t{number}": "" for number in range(41)}),
        ["tags: ", "40"],
    ),
    (
        "other variant",
        changed(CPU, speech__variant="tpu"),
        ["speech.variant: ", "'gpu'", "'cpu'", "'tpu'"],
    ),
    (
        "no ml. before the type",
        changed(CPU, speech__instance_type="c7i.xlarge"),
        ["speech.instance_type: ", "c7i.xlarge"],
    ),
    (
        "gpu variant on a CPU instance",
        changed(GPU, speech__instance_type="ml.c7i.xlarge"),
        ["speech.instance_type: 'ml.c7i.xlarge'", "'gpu'", 'or set variant = "cpu"', *GPU_FAMILIES],
    ),
    (
        "cpu variant on a GPU instance",
        changed(CPU, speech__instance_type="ml.g5.xlarge"),
        ["speech.instance_type: 'ml.g5.xlarge'", "'cpu'", 'or set variant = "gpu"', *CPU_FAMILIES],
    ),
    (
        "cpu variant with an AMI",
        changed(CPU, speech__inference_ami=GPU_AMI),
        ["speech.inference_ami: ", '"gpu"'],
    ),
    (
        "cpu variant with CUDA",
        changed(CPU, speech__cuda_major=13),
        ["speech.cuda_major: ", '"gpu"'],
    ),
    (
        "gpu without an AMI: the default one has CUDA 11",
        changed(GPU, speech__inference_ami=None),
        ["speech.inference_ami: is required", '"gpu"', *CUDA_MAJOR_BY_AMI],
    ),
    (
        "unknown AMI",
        changed(GPU, speech__inference_ami="ami-1"),
        ["speech.inference_ami: 'ami-1'", *CUDA_MAJOR_BY_AMI],
    ),
    (
        "CUDA major against the AMI",
        changed(GPU, speech__cuda_major=12),
        ["speech.cuda_major: 12", GPU_AMI, "13"],
    ),
    (
        "no CUDA major",
        changed(GPU, speech__cuda_major=None),
        ["speech.cuda_major: is required", '"gpu"', GPU_AMI, "13"],
    ),
    (
        "CUDA major against the image",
        changed(GPU, speech__inference_ami=OLD_AMI, speech__cuda_major=12),
        ["speech.cuda_major: 12", "13", "digest"],
    ),
    ("CUDA 11", changed(GPU, speech__cuda_major=11), ["speech.cuda_major: ", "12", "13", "11"]),
    (
        "minimum 0: scale to zero",
        changed(CPU, speech__instances={"minimum": 0, "maximum": 1}),
        ["speech.instances.minimum: must be 1 to 100, not 0"],
    ),
    (
        "half an instance",
        changed(CPU, speech__instances={"minimum": 1.5, "maximum": 2}),
        ["speech.instances.minimum: must be a whole number, not 1.5"],
    ),
    (
        "minimum above maximum",
        changed(CPU, speech__instances={"minimum": 3, "maximum": 2}),
        ["speech.instances.minimum: 3", "2"],
    ),
    (
        "no maximum",
        changed(CPU, speech__instances={"minimum": 3}),
        ["speech.instances.maximum: is required"],
    ),
    (
        "no sessions",
        changed(CPU, speech__instances={"minimum": 1, "maximum": 1, "sessions_per_instance": 0}),
        ["speech.instances.sessions_per_instance: must be 1 to 500, not 0"],
    ),
    (
        "scheduled minimum above maximum",
        changed(CPU, speech__schedule=[action(minimum=4, maximum=3)]),
        ["speech.schedule.0.minimum: 4", "3"],
    ),
    (
        "scheduled 0",
        changed(CPU, speech__schedule=[action(), action(name="x", minimum=0)]),
        ["speech.schedule.1.minimum: must be 1 to 100, not 0"],
    ),
    (
        "two actions of one name",
        changed(CPU, speech__schedule=[action(), action()]),
        ["speech.schedule: each name may occur only once"],
    ),
    (
        "cron of five fields",
        changed(CPU, speech__schedule=[action(cron="0 19 * * *")]),
        ["speech.schedule.0.cron: ", "0 19 * * *"],
    ),
    (
        "both days open",
        changed(CPU, speech__schedule=[action(cron="cron(0 19 * * * *)")]),
        ["speech.schedule.0.cron: 'cron(0 19 * * * *)'", "`?`"],
    ),
    (
        "a minute of no hour",
        changed(CPU, speech__schedule=[action(cron="cron(99 7 ? * MON *)")]),
        ["speech.schedule.0.cron: 'cron(99 7 ? * MON *)'", "minute '99'", "0 to 59"],
    ),
    (
        "a weekday of no week",
        changed(CPU, speech__schedule=[action(cron="cron(0 7 ? * XYZ *)")]),
        ["speech.schedule.0.cron: 'cron(0 7 ? * XYZ *)'", "weekday 'XYZ'", "1 to 7", "SUN to SAT"],
    ),
    (
        "more instances on a schedule than at most",
        changed(
            CPU,
            speech__instances={"minimum": 1, "maximum": 2},
            speech__schedule=[action(), action(name="day", maximum=3)],
        ),
        ["speech.schedule.1.maximum: 3", "speech.instances.maximum", "2"],
    ),
    (
        "unknown time zone",
        changed(CPU, speech__schedule=[action(time_zone="Berlin")]),
        ["speech.schedule.0.time_zone: 'Berlin'", "Europe/Berlin"],
    ),
    (
        "other weights",
        changed(CPU, speech__model_source="hub"),
        ["speech.model_source: ", "'packages'", "'release'", "'hub'"],
    ),
    (
        "start-up longer than SageMaker waits",
        changed(CPU, speech__startup_timeout_s=7200),
        ["speech.startup_timeout_s: must be 60 to 3,600, not 7200"],
    ),
    (
        "old instances kept longer than SageMaker keeps them",
        changed(CPU, speech__termination_wait_s=7200),
        ["speech.termination_wait_s: must be 0 to 3,600, not 7200"],
    ),
    (
        "seconds as text",
        changed(CPU, speech__startup_timeout_s="600"),
        ["speech.startup_timeout_s: must be a whole number without quotes, not '600'"],
    ),
    (
        "a session closed after SageMaker ends it",
        changed(CPU, speech__session_idle_s=1800),
        ["speech.session_idle_s: must be 60 to 1,740, not 1800"],
    ),
    (
        "no voice where a request names none",
        changed(CPU, speech__default_voice=""),
        ["speech.default_voice: ", "1"],
    ),
    (
        "other image source",
        changed(CPU, agent__image={"source": "registry"}),
        ["agent.image.source: ", "'codebuild'", "'docker'", "'digest'"],
    ),
    (
        "digest without an image",
        changed(CPU, speech__image={"source": "digest"}),
        ["speech.image.uri: ", '"digest"'],
    ),
    (
        "an image that would not be used",
        changed(CPU, speech__image={"uri": DIGEST}),
        ["speech.image.uri: ", '"digest"'],
    ),
    (
        "a tag, which may move",
        changed(
            CPU,
            speech__image={"source": "digest", "uri": DIGEST.split("@")[0] + ":latest"},
        ),
        ["speech.image.uri: ", ":latest", f"such as '{DIGEST_EXAMPLE}' and 64 hexadecimal digits"],
    ),
    (
        "an image where SageMaker does not pull",
        changed(
            CPU,
            speech__image={"source": "digest", "uri": "docker.io/kokoro@" + DIGEST.split("@")[1]},
        ),
        ["speech.image.uri: ", "docker.io", "dkr"],
    ),
    (
        "empty model id",
        changed(CPU, agent__model_id=""),
        ["agent.model_id: ''", "such as 'amazon.nova-lite-v1:0'"],
    ),
    ("empty voice", changed(CPU, agent__voice=""), ["agent.voice: ", "1"]),
    (
        "misspelt voice",
        changed(CPU, agent__voice="af_hart"),
        ["agent.voice: unknown voice 'af_hart'", "did you mean 'af_heart'?", "docs/voices.md"],
    ),
    (
        "a misspelt voice in a mix",
        changed(CPU, speech__default_voice="af_bela(2)+af_sky"),
        ["speech.default_voice: unknown voice 'af_bela'", "af_bella"],
    ),
    (
        "a voice that is not served",
        changed(CPU, agent__voice="xx_nobody"),
        ["agent.voice: unknown voice 'xx_nobody'", "af_heart", "zm_yunyang"],
    ),
    (
        "a long prompt",
        changed(CPU, agent__system_prompt=2049 * "x"),
        ["agent.system_prompt: ", "2048"],
    ),
    ("empty prompt", changed(CPU, agent__system_prompt=""), ["agent.system_prompt: ", "1"]),
    (
        "a language by name",
        changed(CPU, agent__language="English"),
        ["agent.language: ", "^[a-z]{2}$", "'English'"],
    ),
    (
        "other first chunk",
        changed(CPU, agent__first_chunk="word"),
        ["agent.first_chunk: ", "'sentence'", "'clause'", "'word'"],
    ),
    (
        "a reply without end",
        changed(CPU, agent__max_reply_tokens=100_000),
        ["agent.max_reply_tokens: must be 1 to 8,192, not 100000"],
    ),
    ("other auth", changed(CPU, agent__auth="none"), ["agent.auth: ", "'iam'", "'jwt'", "'none'"]),
    ("jwt without a provider", changed(CPU, agent__auth="jwt"), ["agent.jwt: ", '"jwt"']),
    (
        "a provider that would not be asked",
        changed(CPU, agent__jwt=JWT | {"allowed_clients": ["web"]}),
        ["agent.jwt: ", '"jwt"'],
    ),
    (
        "tokens of nobody",
        changed(CPU, agent__auth="jwt", agent__jwt=JWT),
        ["agent.jwt.allowed_clients: ", "allowed_audiences"],
    ),
    (
        "provider without discovery",
        changed(
            CPU,
            agent__auth="jwt",
            agent__jwt={"discovery_url": "https://x.example", "allowed_clients": ["web"]},
        ),
        ["agent.jwt.discovery_url: ", "well-known", "x.example"],
    ),
    (
        "a header AgentCore does not pass on",
        changed(CPU, agent__allowed_headers=["X-Tenant"]),
        ["agent.allowed_headers: 'X-Tenant'", "X-Amzn-Bedrock-AgentCore-Runtime-Custom-"],
    ),
    (
        "idle longer than it may live",
        changed(CPU, agent__idle_timeout_s=900, agent__max_lifetime_s=600),
        ["agent.idle_timeout_s: ", "max_lifetime_s", "600"],
    ),
    (
        "a network the agent is not in",
        changed(VPC, agent__network="public"),
        ["network: ", '"vpc"'],
    ),
    ("vpc without a network", changed(VPC, network=None), ["network: ", '"vpc"']),
    (
        "zones of no Region",
        changed(VPC, region=None),
        ["region: is required with `[network]`: one of ", "eu-central-1", "us-west-2"],
    ),
    (
        "a Region where AgentCore has no VPC",
        changed(VPC, region="eu-north-1"),
        ["region: 'eu-north-1'", *AGENTCORE_AZ_IDS],
    ),
    (
        "a zone AgentCore lacks",
        changed(VPC, network__az_ids=["euc1-az1", "euc1-az4"]),
        ["network.az_ids: 'euc1-az4'", *AGENTCORE_AZ_IDS["eu-central-1"]],
    ),
    (
        "a zone by name",
        changed(VPC, network__az_ids=["eu-central-1a", "eu-central-1b"]),
        ["network.az_ids: 'eu-central-1a'", "euc1-az1"],
    ),
    ("one zone", changed(VPC, network__az_ids=["euc1-az1"]), ["network.az_ids: ", "2"]),
    (
        "a zone twice",
        changed(VPC, network__az_ids=["euc1-az1", "euc1-az1"]),
        ["network.az_ids: ", "once"],
    ),
    ("a small VPC", changed(VPC, network__cidr="10.0.0.0/28"), ["network.cidr: ", "/28"]),
    ("no block", changed(VPC, network__cidr="10.0.0.1/16"), ["network.cidr: ", "10.0.0.1/16"]),
    (
        "one stable instance",
        changed(CPU, kind="stable"),
        ["speech.instances.minimum: ", '"stable"', "2"],
    ),
    (
        "one stable instance at night",
        changed(
            CPU,
            kind="stable",
            speech__instances={"minimum": 2, "maximum": 4},
            speech__schedule=[action()],
        ),
        ["speech.instances.minimum: ", '"stable"', "2", "schedule"],
    ),
    ("no address", changed(CPU, alarms={"email": "oncall"}), ["alarms.email: ", "'oncall'"]),
    (
        "first audio of 0 ms",
        changed(CPU, alarms={"first_audio_p95_ms": 0}),
        ["alarms.first_audio_p95_ms: must be 50 to 60,000, not 0"],
    ),
    (
        "alarm at 0 errors",
        changed(CPU, alarms={"errors_per_minute": 0}),
        ["alarms.errors_per_minute: must be 1 to 10,000, not 0"],
    ),
    ("budget of 0", changed(CPU, budget={"monthly_usd": 0, "email": "a@b.c"}), ["budget.monthly"]),
    ("budget for nobody", changed(CPU, budget={"monthly_usd": 5}), ["budget.email: is required"]),
    ("a name in the file", changed(CPU, name="other"), ["name: ", "file"]),
]


@pytest.mark.parametrize(
    ("values", "mentions"),
    [pytest.param(values, mentions, id=name) for name, values, mentions in MISTAKES],
)
def test_a_mistake_is_named_with_what_is_accepted(
    tmp_path: Path, values: dict[str, Any], mentions: list[str]
) -> None:
    """Guards against a setting that fails minutes into a deploy, or has no effect at all."""
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, values)
    message = str(caught.value)
    assert message.startswith(f"test.toml: {mentions[0]}")
    assert "\n" not in message
    assert [word for word in mentions if word not in message] == []


@pytest.mark.parametrize("values", [CPU, GPU, VPC], ids=["cpu", "gpu", "vpc"])
def test_what_the_mistakes_are_put_into_is_right(tmp_path: Path, values: dict[str, Any]) -> None:
    """Guards against tests of mistakes that pass because of another one."""
    assert loaded(tmp_path, values).name == "test"


def test_another_cuda_major_goes_with_an_image_of_ones_own(tmp_path: Path) -> None:
    """Guards against a check that also refuses what works."""
    values = changed(
        GPU,
        speech__inference_ami=OLD_AMI,
        speech__cuda_major=12,
        speech__image={"source": "digest", "uri": DIGEST},
    )
    assert loaded(tmp_path, values).speech.cuda_major == 12


def test_an_image_of_ones_own_may_have_other_voices(tmp_path: Path) -> None:
    """Guards against a list of voices that another image does not have."""
    image = {"source": "digest", "uri": DIGEST}
    values = changed(
        CPU, speech__image=image, speech__default_voice="xx_own", agent__voice="xx_own"
    )
    assert loaded(tmp_path, values).agent.voice == "xx_own"


@pytest.mark.parametrize("region", ["eu-central-2", "cn-north-1"])
def test_a_region_outside_the_list_of_agentcore_is_accepted(tmp_path: Path, region: str) -> None:
    """Guards against a list that is not current: AWS has the Region, and preflight asks it."""
    assert loaded(tmp_path, changed(CPU, region=region)).region == region


def test_an_empty_speech_table_says_what_it_needs(tmp_path: Path) -> None:
    """Guards against an error about a value, "None", that nobody typed."""
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, {"kind": "ephemeral", "speech": {}})
    assert "None" not in str(caught.value)
    assert "speech.inference_ami: is required with variant" in str(caught.value)


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    """Guards against one synth for each."""
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, {"kind": "test", "colour": "red"})
    keys = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert sorted(keys) == ["colour", "kind", "speech"]


def test_all_values_that_do_not_fit_together_are_reported_at_once(tmp_path: Path) -> None:
    """Guards against one synth for each, also of the values of different tables."""
    speech = {"variant": "gpu", "schedule": [action(maximum=2)]}
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, changed(CPU, speech=speech, agent__auth="jwt"))
    keys = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert keys == [
        "speech.schedule.0.maximum", "speech.inference_ami", "speech.cuda_major", "agent.jwt",
    ]  # fmt: skip
    values = changed(CPU, kind="stable", speech__default_voice="nobody", agent__network="vpc")
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, values)
    keys = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert keys == ["speech.instances.minimum", "network", "speech.default_voice"]


@pytest.mark.parametrize("name", ["Dev", "dev_2", "2dev", "dev-", 21 * "x"])
def test_a_name_that_does_not_fit_everywhere_is_refused(tmp_path: Path, name: str) -> None:
    """Guards against names that a stack, an endpoint or a runtime may not have."""
    with pytest.raises(SettingsError, match=f"{name}.toml: name: '{name}'.*rename the file.*20"):
        loaded(tmp_path, CPU, name)


@given(st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,6}){0,2}", fullmatch=True))
def test_every_name_gives_legal_and_different_names(name: str) -> None:
    """Guards against two environments that share an endpoint or a runtime."""
    settings = Settings.model_validate(CPU | {"name": name})
    assert len(settings.endpoint_name) <= 63  # CreateEndpoint: EndpointName
    assert len(settings.runtime_name) <= 48  # CreateAgentRuntime: agentRuntimeName
    assert settings.runtime_name.replace("_", "").isalnum()
    assert settings.endpoint_name.removeprefix("kokoro-") == name
    assert settings.runtime_name.removeprefix("voice_agent_").replace("_", "-") == name


def test_an_environment_that_does_not_exist_names_those_that_do(tmp_path: Path) -> None:
    """Guards against a traceback for a misspelt name."""
    with pytest.raises(SettingsError, match="there are: none"):
        load("dev", tmp_path)
    for name in ("prod", "dev"):
        loaded(tmp_path, CPU, name)
    with pytest.raises(SettingsError, match=r"'pord'.*there are: dev, prod$"):
        load("pord", tmp_path)
    with pytest.raises(SettingsError, match=r"did you mean dev\?"):
        load("environments/dev.toml", tmp_path)


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    """Guards against a parser's message without a file."""
    (tmp_path / "test.toml").write_text('kind = "ephemeral"\n[speech\n')
    with pytest.raises(SettingsError, match=r"test\.toml: is not TOML: .*line 2[^;]*$"):
        load("test", tmp_path)


@pytest.mark.parametrize("line", ["kind = ephemeral", "kind=ephemeral # for a developer"])
def test_a_text_without_quotes_is_quoted_in_the_error(tmp_path: Path, line: str) -> None:
    """Guards against "Invalid value", which does not say what is wrong with the value."""
    (tmp_path / "test.toml").write_text(f"# A test.\n{line}\n")
    with pytest.raises(SettingsError) as caught:
        load("test", tmp_path)
    assert "line 2" in str(caught.value)
    assert str(caught.value).endswith('; put a text in quotes: kind = "ephemeral"')


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """Guards against "Invalid statement (at line 1, column 1)" for a file that an editor saved."""
    text = 'kind = "ephemeral"\n[speech]\nvariant = "cpu"\ninstance_type = "ml.c7i.xlarge"\n'
    (tmp_path / "test.toml").write_text(text, encoding="utf-8-sig")
    assert load("test", tmp_path).kind == "ephemeral"


def test_every_environment_of_the_repository_can_be_loaded() -> None:
    """Guards against a file that nobody has synthesized since the model changed."""
    assert environment_names(), "there is no file in environments/"
    for name in environment_names():
        assert load(name).name == name


def test_settings_do_not_change(tmp_path: Path) -> None:
    """Guards against one stack that changes what the next one sees."""
    settings = loaded(tmp_path, CPU)
    with pytest.raises(ValueError, match="frozen"):
        settings.speech.instances.minimum = 5  # type: ignore[misc]
