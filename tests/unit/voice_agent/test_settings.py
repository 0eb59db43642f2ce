"""The agent's settings are read from the environment, and errors name the variable."""

import pytest

from voice_agent.settings import Settings, SettingsError

ENOUGH = {"VOICE_AGENT_ENDPOINT_NAME": "kokoro", "AWS_REGION": "eu-west-1"}


def test_the_least_that_is_needed() -> None:
    """Defaults that no longer work would otherwise be noticed only in a deployment."""
    settings = Settings.from_environment(ENOUGH | {"PATH": "/bin", "AWS_CA_BUNDLE": "/ca.pem"})
    assert settings.endpoint_name == "kokoro"
    assert settings.region == "eu-west-1"
    assert settings.ca_file == "/ca.pem"
    assert settings.model_id == "global.amazon.nova-2-lite-v1:0"
    assert settings.voice == "af_heart"
    assert settings.language is None


def test_values_are_read_from_their_variables() -> None:
    settings = Settings.from_environment(
        ENOUGH
        | {"VOICE_AGENT_VOICE": "am_adam", "VOICE_AGENT_CONVERSATION_IDLE_S": "1.5"}
        | {"VOICE_AGENT_LANGUAGE": "pt"}
    )
    assert (settings.voice, settings.conversation_idle_s) == ("am_adam", 1.5)
    assert settings.language == "pt"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"VOICE_AGENT_VOYCE": "x"}, ["VOICE_AGENT_VOYCE"]),
        ({"VOICE_AGENT_REGION": "x"}, ["VOICE_AGENT_REGION"]),
        ({"VOICE_AGENT_MAX_PROMPT_CHARS": "0"}, ["VOICE_AGENT_MAX_PROMPT_CHARS", "1", "'0'"]),
        ({"VOICE_AGENT_BATCH_TIMEOUT_S": "inf"}, ["VOICE_AGENT_BATCH_TIMEOUT_S", "inf"]),
        ({"VOICE_AGENT_ENDPOINT_NAME": ""}, ["VOICE_AGENT_ENDPOINT_NAME"]),
        ({"AWS_REGION": ""}, ["AWS_REGION"]),
        ({"VOICE_AGENT_LANGUAGE": "English"}, ["VOICE_AGENT_LANGUAGE", "ISO 639-1", "English"]),
        ({"VOICE_AGENT_LANGUAGE": ""}, ["VOICE_AGENT_LANGUAGE", "ISO 639-1"]),
        ({"VOICE_AGENT_LANGUAGE": "PT"}, ["VOICE_AGENT_LANGUAGE", "ISO 639-1"]),
    ],
)
def test_what_is_wrong_is_named(changes, words) -> None:
    """A wrong setting must prevent the start. Otherwise, it is noticed weeks later."""
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(ENOUGH | changes)
    assert [word for word in words if word not in str(caught.value)] == []


def test_every_setting_is_described() -> None:
    """The table in the documentation is generated from the descriptions, so none may be missing."""
    fields = Settings.model_fields
    assert [name for name, field in fields.items() if not field.description] == []
