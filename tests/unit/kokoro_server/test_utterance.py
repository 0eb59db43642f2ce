"""The life of an utterance, its tally, and the request that it speaks."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kokoro_server.messages import BatchRequest, ProtocolError, Speak
from kokoro_server.playback import Listener
from kokoro_server.settings import Settings
from kokoro_server.utterance import SpeechRequest, TransitionError, UtteranceState
from kokoro_voice.voices import Voices
from tests.utterances import VOICE, new_utterance

VOICES = Voices(["af_heart"], "af_heart")
SETTINGS = Settings(model_dir=Path("unused"), granularity="sentence", max_text_chars=10)
ALLOWED = {
    ("QUEUED", "SPEAKING"),
    ("QUEUED", "CANCELLED"),
    ("SPEAKING", "COMPLETE"),
    ("SPEAKING", "FAILED"),
    ("SPEAKING", "CANCELLED"),
}


class AnyLife(RuleBasedStateMachine):
    """Guards against an utterance that ends twice, or speaks after its end."""

    def __init__(self) -> None:
        super().__init__()
        self.utterance = new_utterance()
        self.passed = [UtteranceState.QUEUED]
        self.now_s = 0.0

    @rule(state=st.sampled_from(list(UtteranceState)[1:]))
    def enter(self, state: UtteranceState) -> None:
        self.now_s += 1.0
        before = self.utterance.state
        enter = {
            "SPEAKING": partial(self.utterance.begin, self.now_s),
            "COMPLETE": self.utterance.complete,
            "FAILED": partial(self.utterance.fail, ProtocolError("internal", "why")),
            "CANCELLED": self.utterance.cancel,
        }[state.name]
        if (before.name, state.name) in ALLOWED:
            enter()
            self.passed.append(state)
        else:
            with pytest.raises(TransitionError, match=f"from {before.name} to {state.name}"):
                enter()

    @invariant()
    def what_is_refused_changes_nothing(self) -> None:
        utterance = self.utterance
        assert utterance.state is self.passed[-1]
        assert (utterance.began_s is not None) is (UtteranceState.SPEAKING in self.passed)
        assert (utterance.error is not None) is (UtteranceState.FAILED in self.passed)
        assert utterance.ended is (self.passed[-1].name in {"COMPLETE", "FAILED", "CANCELLED"})


TestAnyLife = AnyLife.TestCase
TestAnyLife.settings = settings(max_examples=50, stateful_step_count=8, deadline=None)


def test_the_tally_adds_up_and_the_first_audio_is_the_first() -> None:
    """Guards against a time of first audio that every chunk overwrites."""
    utterance = new_utterance(received_s=1.0)
    utterance.begin(2.0)
    utterance.add_audio(0.5, 3.0)
    utterance.add_audio(1.5, 9.0)
    assert (utterance.began_s, utterance.first_audio_s) == (2.0, 3.0)
    assert (utterance.tally.audio_s, utterance.tally.chunks) == (2.0, 2)
    assert (utterance.listener.plays_until_s, utterance.listener.turn_audio_s) == (10.5, 2.0)


def test_its_listener_waits_since_it_arrived() -> None:
    """Guards against a deadline that ignores the time an utterance was queued."""
    listener = Listener()
    utterance = new_utterance(listener, received_s=1.0)
    assert listener.waiting_since_s != 1.0
    utterance.begin(5.0)
    assert (listener.waiting_since_s, listener.deadline_s) == (1.0, 1.0)


@pytest.mark.parametrize("kind", [Speak, BatchRequest])
def test_a_request_is_the_same_on_both_routes(kind: type[Speak | BatchRequest]) -> None:
    """Guards against a limit or a default that one of the routes forgets."""
    request = SpeechRequest.of(kind(text="Hi.", request_id="a", speed=2.0), VOICES, SETTINGS)
    assert request == SpeechRequest("a", "Hi.", VOICE, 2.0, "sentence")
    assert request.chars == 1.5
    assert SpeechRequest.of(kind(text="Hi."), VOICES, SETTINGS).request_id == ""
    wanted = kind(text="Hi.", granularity="window")
    assert SpeechRequest.of(wanted, VOICES, SETTINGS).granularity == "window"
    for fields, code in (
        ({"text": "x" * 11}, "too_long"),
        ({"text": "Hi.", "voice": "nobody"}, "unknown_voice"),
        ({"text": "Hi.", "voice": "af_heart(0)"}, "invalid"),
    ):
        with pytest.raises(ProtocolError) as caught:
            SpeechRequest.of(kind.model_validate(fields), VOICES, SETTINGS)
        assert caught.value.code == code


@pytest.mark.parametrize("kind", [Speak, BatchRequest])
@pytest.mark.parametrize(
    ("fields", "mentions"),
    [
        ({"text": "Hi [pause:11s]"}, ["text", "[pause:11s]", "0 to 10 s"]),
        ({"text": "[Hi](/h€/)"}, ["text", "€"]),
        ({"text": "<speak><audio/></speak>"}, ["text", "<audio>", "prosody"]),
        (
            {"text": "<speak><prosody rate='1.5'>x</prosody></speak>", "speed": 1.6},
            ["text", "1.5", "1.6", "0.5 to 2"],
        ),
        ({"text": "Hi.", "lexicon": {"Hi": "/h€/"}}, ["lexicon", "Hi", "€"]),
        ({"text": "Hi.", "lexicon": {"(Hi)": "hey"}}, ["lexicon", "(Hi)", "brackets"]),
    ],
)
def test_wrong_control_is_refused_on_arrival(
    kind: type[Speak | BatchRequest], fields: dict[str, Any], mentions: list[str]
) -> None:
    """Guards against an error in the middle of the audio."""
    settings = Settings(model_dir=Path("unused"))
    with pytest.raises(ProtocolError) as caught:
        SpeechRequest.of(kind.model_validate(fields), VOICES, settings)
    assert caught.value.code == "invalid"
    assert [word for word in mentions if word not in caught.value.message] == []


def test_markup_does_not_count_as_speech() -> None:
    """Guards against a request that is refused because its markup is long."""
    text = "<speak>Hi. <break time='5s'/><prosody rate='50%'>Hey.</prosody></speak>"
    assert SpeechRequest("", text, VOICE, speed=2.0).chars == (4 + 4 / 0.5) / 2


@pytest.mark.parametrize(
    ("text", "warns"),
    [
        ("Привет, как дела?", True),
        ("[Привет](/pɾivʲet/) everybody.", False),
        ("<speak><lang xml:lang='fr'>Vous êtes dans le train avec nous.</lang></speak>", False),
    ],
)
def test_a_text_in_another_language_is_warned_of(text: str, warns: bool) -> None:
    """Guards against a warning about words whose language or pronunciation is given."""
    assert (SpeechRequest("", text, VOICE).warning is not None) is warns
