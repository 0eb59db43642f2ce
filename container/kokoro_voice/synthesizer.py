"""The walk from text to samples, step by step.

A caller splits its text (`text.segments`) and takes three steps: `pronounce` a segment, which gives
sentences; `prepare` a sentence; `decode` its spans, one after the other, as its `Decoding` says.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kokoro_voice.audio import Samples, Trimmer
from kokoro_voice.decoding import FRAME_WORK_S, Decoding, Span
from kokoro_voice.engine import MAX_PHONEMES, Engine, NormStatistics, Prosody
from kokoro_voice.errors import ModelError
from kokoro_voice.g2p import Pronouncer
from kokoro_voice.norm_statistics import TABLE_PATH, NormStatisticsTable
from kokoro_voice.onnx_model import Cancellation, ExecutionProvider
from kokoro_voice.text import WORD_PAUSE_S, Segment
from kokoro_voice.timing import (
    PronouncedWord,
    WordTime,
    last_sound,
    last_sound_frame,
    phonemes_of,
    split,
    word_times,
)
from kokoro_voice.voices import Voice
from kokoro_voice.windows import FRAME_SAMPLES, WINDOW_LIMITS, SpokenFrames

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sentence:
    """Words that the model speaks as one.

    Attributes:
        words: at most `MAX_PHONEMES` phonemes that the model knows, at least one of them a sound.
        pause_s: the pause after it at normal speed, in seconds.
    """

    words: Sequence[PronouncedWord]
    pause_s: float

    @property
    def phonemes(self) -> str:
        """What the model speaks."""
        return phonemes_of(self.words)


@dataclass(frozen=True)
class AudioChunk:
    """Some trimmed audio of a sentence.

    Attributes:
        samples: 24 kHz, shape (n,); perhaps none, because silence waits for what follows.
        words: all words of the sentence, with its first audio.
    """

    samples: Samples
    words: Sequence[WordTime] = ()


class PreparedSentence:
    """A sentence that is ready to be decoded, and how far its decoding is.

    Args:
        sentence: its words.
        voice: who speaks it.
        prosody: of these words and this voice.
        norm_statistics: predicted ones to decode windows with, or None to decode it whole.
        frame_work_s: see `Decoding`.
    """

    def __init__(
        self,
        sentence: Sentence,
        voice: Voice,
        prosody: Prosody,
        norm_statistics: NormStatistics | None,
        frame_work_s: float,
    ) -> None:
        self.voice = voice
        self.prosody = prosody
        self.norm_statistics = norm_statistics
        phonemes = sentence.phonemes
        spoken = SpokenFrames.of(prosody.token_frames, prosody.energy, last_sound(phonemes))
        self.decoding = Decoding(
            prosody.frames,
            spoken,
            windowed=norm_statistics is not None,
            frame_work_s=frame_work_s,
        )
        """Which frames are to be decoded next."""
        self._words = sentence.words
        self._last_sound_frame = last_sound_frame(phonemes, prosody.token_frames)
        self._trimmer = Trimmer()
        self._first_frame: int | None = None
        self._is_timed = False

    def trimmed(self, span: Span, samples: Samples) -> AudioChunk:
        """What may be played of the model's audio of `span`; spans come in their order."""
        if self._first_frame is None:
            self._first_frame = span.start
        end = span.start + len(samples) // FRAME_SAMPLES
        speech = self._trimmer.push(samples, speech_follows=end <= self._last_sound_frame)
        if self._is_timed or not len(speech):
            return AudioChunk(speech)
        self._is_timed = True
        dropped = self._first_frame * FRAME_SAMPLES + self._trimmer.dropped_samples
        return AudioChunk(speech, word_times(self._words, self.prosody.token_frames, dropped))

    def tail(self) -> Samples:
        """What is left to be played after the last span, shape (n,)."""
        return self._trimmer.end()


class Synthesizer:
    """The loaded model and the pronunciation. All methods block.

    Neither half of it is thread-safe, and they share no state that changes: use `pronounce` from
    one thread, `prepare` and `decode` from one thread, which may be another.

    Args:
        model_dir: see `Engine`.
        threads: threads of one synthesis.
        provider: what the model runs on.

    Raises:
        ModelError: the model directory is incomplete or damaged, or the provider unusable.
    """

    def __init__(
        self,
        model_dir: Path,
        threads: int,
        provider: ExecutionProvider = "cpu",
    ) -> None:
        self.engine = Engine(model_dir, threads, provider)
        self.pronouncer = Pronouncer()
        self.table: NormStatisticsTable | None = None
        """What norm statistics are predicted with; None if it is of another model."""
        try:
            self.table = NormStatisticsTable.load(TABLE_PATH, self.engine.model_sha256)
        except ModelError as error:
            logger.warning("every sentence will be decoded whole: %s", error)

    def pronounce(self, segment: Segment, voice: Voice) -> list[Sentence]:
        """The sentences of `segment`: usually one; none where there is nothing to say."""
        words = [
            PronouncedWord(word.text, self.engine.known(word.phonemes))
            for word in self.pronouncer.words(segment.text, voice.language)
        ]
        # Punctuation alone makes the model babble.
        spoken = [
            sentence
            for sentence in split(words, MAX_PHONEMES)
            if any(phoneme.isalpha() for phoneme in phonemes_of(sentence))
        ]
        pauses_s = [WORD_PAUSE_S] * (len(spoken) - 1) + [segment.pause_s]
        return [Sentence(*sentence) for sentence in zip(spoken, pauses_s, strict=False)]

    def prepare(
        self,
        sentence: Sentence,
        voice: Voice,
        speed: float,
        cancellation: Cancellation,
        *,
        windowed: bool,
        frame_work_s: float = FRAME_WORK_S,
    ) -> PreparedSentence:
        """Compute everything about a sentence but its sound.

        Args:
            sentence: see `pronounce`.
            voice: of voices in the model directory.
            speed: 1.0 is the voice's own; 2.0 takes about half the time.
            cancellation: ends the work early.
            windowed: whether it may be decoded in windows; if not, it is decoded whole.
            frame_work_s: what the decoding of a frame takes, in seconds.

        Raises:
            ModelError: the voice's file is missing or has the wrong size.
            WorkCancelled: the work was cancelled.
        """
        prosody = self.engine.prosody(sentence.phonemes, voice, speed, cancellation)
        predicted: NormStatistics | None = None
        table = self.table if windowed and not WINDOW_LIMITS.too_short(prosody.frames) else None
        if table is not None and table.allows_windows(voice):
            predicted = table.predict(prosody, voice)
        return PreparedSentence(sentence, voice, prosody, predicted, frame_work_s)

    def decode(
        self, prepared: PreparedSentence, span: Span, cancellation: Cancellation
    ) -> AudioChunk:
        """Decode the next span of a sentence; the table learns from one that is decoded whole.

        Args:
            prepared: of this synthesizer.
            span: what `prepared.decoding.next` gave.
            cancellation: ends the work early.

        Raises:
            WorkCancelled: the work was cancelled.
        """
        prosody = prepared.prosody
        if span.whole or prepared.norm_statistics is None:
            samples, exact = self.engine.whole(prosody, cancellation)
            if self.table is not None:
                self.table.learn(prosody, prepared.voice, exact)
        else:
            samples = self.engine.window(
                prosody, prepared.norm_statistics, span.start, span.end, cancellation
            )
        return prepared.trimmed(span, samples)
