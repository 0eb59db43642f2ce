"""docs/protocol.md agrees with the code, because people write clients from it."""

import json
import re
from pathlib import Path
from typing import Annotated, get_args

import pytest
from pydantic import Field, TypeAdapter

from kokoro_server import messages as speech
from kokoro_server.settings import Settings
from kokoro_server.utterance import SpeechRequest
from kokoro_text import say_as, ssml
from kokoro_voice.voices import Voices
from speech_client import errors
from voice_agent import messages as agent
from voice_agent.model import BedrockError
from voice_agent_client import UnknownEvent
from voice_agent_client.protocol import parse_event

DOCUMENT = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
AGENT, SPEECH = DOCUMENT.split("## Agent ⇄ speech server")


def named(text: str) -> set[str]:
    """Return every word that is marked as code in the prose and the tables."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return {word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)}


def examples(text: str) -> list[str]:
    """Return every JSON object in a `json` block, of which there is one on a line."""
    return [
        line
        for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
    ]


def bodies(text: str, route: str) -> list[str]:
    """Return the JSON that the `curl` commands send to `route`, a port and a path."""
    commands = re.findall(r"^(?:\$ )?curl .*?(?<!\\)$", text, re.DOTALL | re.MULTILINE)
    return [body for c in commands if route in c for body in re.findall("--json '(.*?)'", c)]


def test_every_field_and_type_is_documented() -> None:
    """A client's developer would have to read the source to find a field that is missing here."""
    for text, models in [
        (
            AGENT,
            [agent.Prompt, agent.Interrupt, agent.Close, *get_args(agent.ServerEvent.__value__)],
        ),
        (SPEECH, [speech.Speak, speech.Cancel, speech.Close, *get_args(speech.ServerMessage)]),
    ]:
        for model in models:
            assert set(model.model_fields) <= named(text), model.__name__
            types = get_args(model.model_fields["type"].annotation)
            assert set(types) <= named(text), model.__name__


def row(name: str) -> set[str]:
    """Return every word that is marked as code in the agent's table row about `name`."""
    found = re.search(rf"^\| `{name}` \|.*", AGENT, re.MULTILINE)
    assert found, f"docs/protocol.md has no table row about `{name}`"
    return named(found[0])


def test_every_field_is_in_the_row_of_its_event() -> None:
    """A new field counted as documented when any other event had one of the same name."""
    fields = {
        get_args(event.model_fields["type"].annotation)[0]: set(event.model_fields)
        for event in get_args(agent.ServerEvent.__value__)
    }
    fields |= {
        "words": fields["words"] | set(agent.Word.model_fields),
        "sentences": set(agent.SentenceMetrics.model_fields),
    }
    for name, expected in fields.items():
        missing = expected - row(name) - {"type", "request_id"}
        assert not missing, f"add {missing} to the row about `{name}` in docs/protocol.md"
    for name in agent.Metrics.model_fields:
        row(name)


def test_every_error_code_is_documented() -> None:
    """Clients decide by the code whether to try again."""
    assert set(get_args(speech.ErrorCode)) <= named(SPEECH)
    kinds = (errors.SpeechConnectionError, errors.SpeechContainerError, BedrockError)
    codes = {kind.code for kind in kinds} | {errors.SpeechInputError("").code}
    own = {"invalid", "too_long", "unsupported", "busy", "internal"}
    assert codes | own <= named(AGENT)


CLIENT_TYPES = {"prompt", "interrupt", "close", "speak", "cancel"}
# With a discriminator, an error names one event, not a mistake for each of the others.
EVENT: TypeAdapter[agent.ServerEvent] = TypeAdapter(
    Annotated[agent.ServerEvent.__value__, Field(discriminator="type")]
)
SPEECH_EVENT: TypeAdapter[speech.ServerMessage] = TypeAdapter(speech.ServerMessage)


def kind(message: str) -> str:
    return str(json.loads(message).get("type"))


@pytest.mark.parametrize("message", examples(AGENT), ids=kind)
def test_every_example_of_the_agents_protocol_is_real(message: str) -> None:
    """People copy the examples; one that the agent refuses or never sends misleads them."""
    data = json.loads(message)
    if data["type"] in CLIENT_TYPES:
        if data.get("speed") == 9:  # the mistake, with the answer that is printed below it
            with pytest.raises(agent.MessageError) as refused:
                agent.parse_frame(message, max_prompt_chars=4000)
            assert str(refused.value) in [json.loads(m).get("message") for m in examples(AGENT)]
        else:
            agent.parse_frame(message, max_prompt_chars=4000)
        return
    assert not isinstance(parse_event(message), UnknownEvent)
    if data["type"] != "audio_chunk":
        sent = agent.to_json(EVENT.validate_json(message, strict=True))
        assert sent == data, f"correct the example of `{data['type']}` in docs/protocol.md"


@pytest.mark.parametrize("message", examples(SPEECH))
def test_every_example_of_the_speech_protocol_is_real(message: str) -> None:
    data = json.loads(message)
    if data.get("type") in CLIENT_TYPES:
        speech.decode(message)
    elif "type" in data:
        event = SPEECH_EVENT.validate_json(message, strict=True)
        assert json.loads(event.encode()) == data
    else:  # the body of an error response
        assert data.keys() == {"code", "message"}
        assert data["code"] in get_args(speech.ErrorCode)


def test_every_request_of_the_document_is_accepted() -> None:
    """A body that is wrong in the document is refused in the reader's terminal."""
    to_agent = bodies(AGENT, "/invocations")
    to_speech_server = bodies(SPEECH, "/invocations")
    assert len(to_agent) >= 3
    assert to_speech_server
    for body in to_agent:
        agent.parse_invocation(json.loads(body), max_prompt_chars=4000)
    for body in to_speech_server:
        speech.decode_batch(body.encode())


def test_the_example_conversation_has_the_agents_order() -> None:
    """A client waits for the first and the last event that the document shows."""
    first_reply = [json.loads(m) for m in examples(AGENT) if '"q1"' in m][1:]
    types = list(dict.fromkeys(event["type"] for event in first_reply))
    assert types == [
        "agent_start", "text_delta", "audio_stream_start", "sentence", "words", "audio_stream_end",
        "interrupted", "agent_end",
    ]  # fmt: skip


def test_the_elements_of_ssml_are_documented() -> None:
    """An element that is missing here is used by nobody; one that is not there is an error."""
    section = SPEECH.split("### Control by the text")[1].split("\n### ")[0]
    tables = "\n".join(re.findall(r"^\|.*", section, re.MULTILINE))
    assert set(re.findall(r"<(\w[\w-]*)>", tables)) == set(ssml.ELEMENTS)
    attributes = {name for names in ssml.ELEMENTS.values() for name in names}
    prose = re.sub(r"```.*?```", "", section, flags=re.DOTALL)
    codes = set(re.findall(r"`([^`]+)`", prose))
    assert {name for name in attributes if not name.startswith(("xmlns:", "xsi:"))} <= codes
    assert {*say_as.KINDS, *say_as.DATE_FORMATS, *ssml.RATES, *ssml.STRENGTHS_S} <= codes
    for name, value in ssml.RATES.items():
        assert re.search(rf"`{name}`[^,(]*\({100 * value:g}%\)|`{name}` or", section), name
    for name, value in ssml.STRENGTHS_S.items():
        assert f"`{name}` ({value:g} s" in section


def test_the_requests_of_the_document_are_spoken() -> None:
    """An example whose markup is refused misleads its reader."""
    settings, voices = (
        Settings(model_dir=Path("unused")),
        Voices(["af_heart", "af_bella", "af_sky"], "af_heart"),
    )
    for message in examples(SPEECH):
        if json.loads(message).get("type") == "speak":
            speak = speech.decode(message)
            assert isinstance(speak, speech.Speak)
            SpeechRequest.of(speak, voices, settings)
