"""The agent's settings come from the environment, and what is wrong there is named."""

import pytest

from voice_agent.settings import Settings, SettingsError

ENOUGH = {"VOICE_AGENT_ENDPOINT_NAME": "kokoro", "AWS_REGION": "eu-west-1"}


def test_the_least_that_is_needed() -> None:
    """Defaults that stop working would show up in a deployment only."""
    settings = Settings.from_environment(ENOUGH | {"PATH": "/bin", "AWS_CA_BUNDLE": "/ca.pem"})
    assert settings.endpoint_name == "kokoro"
    assert settings.region == "eu-west-1"
    assert settings.ca_file == "/ca.pem"
    assert settings.model_id == "global.amazon.nova-2-lite-v1:0"
    assert settings.voice == "af_heart"


def test_values_are_read_from_their_variables() -> None:
    settings = Settings.from_environment(
        ENOUGH | {"VOICE_AGENT_VOICE": "am_adam", "VOICE_AGENT_CONVERSATION_IDLE_S": "1.5"}
    )
    assert (settings.voice, settings.conversation_idle_s) == ("am_adam", 1.5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"VOICE_AGENT_VOYCE": "x"}, ["VOICE_AGENT_VOYCE"]),
        ({"VOICE_AGENT_REGION": "x"}, ["VOICE_AGENT_REGION"]),
        ({"VOICE_AGENT_MAX_PROMPT_CHARS": "0"}, ["VOICE_AGENT_MAX_PROMPT_CHARS", "1", "'0'"]),
        ({"VOICE_AGENT_BATCH_TIMEOUT_S": "inf"}, ["VOICE_AGENT_BATCH_TIMEOUT_S", "inf"]),
        ({"VOICE_AGENT_ENDPOINT_NAME": ""}, ["VOICE_AGENT_ENDPOINT_NAME"]),
        ({"AWS_REGION": ""}, ["AWS_REGION"]),
    ],
)
def test_what_is_wrong_is_named(changes, words) -> None:
    """A misspelt or impossible setting must stop the start, not be found out weeks later."""
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(ENOUGH | changes)
    assert [word for word in words if word not in str(caught.value)] == []
