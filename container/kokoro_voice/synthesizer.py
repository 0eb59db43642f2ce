"""Synthesis from text to samples, step by step.

The caller splits its text with `text.segments`. Then it calls `pronounce` for a segment, which
returns sentences; `prepare` for each sentence; and `decode` for each span of frames that the
sentence's `Decoding` returns, in order.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kokoro_text.lexicon import Lexicon
from kokoro_voice.audio import Samples, Trimmer
from kokoro_voice.decoding import FRAME_WORK_S, Decoding, Span
from kokoro_voice.engine import MAX_PHONEMES, Engine, NormStatistics, Prosody
from kokoro_voice.errors import ModelError
from kokoro_voice.g2p import Pronouncer
from kokoro_voice.norm_statistics import TABLE_PATH, NormStatisticsTable
from kokoro_voice.onnx_model import Cancellation, ExecutionProvider
from kokoro_voice.stretch import Stretcher, model_speed
from kokoro_voice.text import WORD_PAUSE_S, Segment
from kokoro_voice.timing import (
    PronouncedWord,
    WordTime,
    has_sound,
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
    """Words that the model speaks in one run.

    Attributes:
        words: Words of at most `MAX_PHONEMES` phonemes in all. The model knows all of the
            phonemes, and at least one of them is a sound.
        pause_s: The pause after the sentence at normal speed, in seconds.
    """

    words: Sequence[PronouncedWord]
    pause_s: float

    @property
    def phonemes(self) -> str:
        """The phonemes that the model speaks."""
        return phonemes_of(self.words)


@dataclass(frozen=True)
class Pronunciation:
    """The pronunciation of a segment.

    Attributes:
        sentences: Usually one; none if nothing in the segment can be spoken.
        unspoken: Words with a letter or digit for which no sound is known, as they are written.
    """

    sentences: Sequence[Sentence]
    unspoken: Sequence[str]


@dataclass(frozen=True)
class AudioChunk:
    """Trimmed audio from one span of a sentence.

    Attributes:
        samples: 24 kHz audio, shape (n,). It may be empty, because silence is held back until
            sound follows.
        words: All words of the sentence, in the chunk with its first audio.
    """

    samples: Samples
    words: Sequence[WordTime] = ()


class PreparedSentence:
    """A sentence that is ready to be decoded, and the progress of its decoding.

    Args:
        sentence: The sentence's words.
        voice: The voice that speaks it.
        stretch: How much faster than the model's audio the sentence is to be spoken.
        prosody: The prosody of these words in this voice.
        norm_statistics: Predicted statistics for decoding windows, or None to decode it whole.
        frame_work_s: See `Decoding`.
    """

    def __init__(
        self,
        sentence: Sentence,
        voice: Voice,
        stretch: float,
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
            speed=stretch,
            frame_work_s=frame_work_s,
        )
        """Returns the frames to decode next."""
        self._words = sentence.words
        self._stretch = stretch
        last = last_sound_frame(phonemes, prosody.token_frames) - self.decoding.first_frame
        self._trimmer = Trimmer(last * FRAME_SAMPLES)
        self._stretcher = Stretcher(stretch)
        self._is_timed = False

    def trimmed(self, samples: Samples) -> AudioChunk:
        """Return what can be played now of the next samples. Pass those of the spans in order."""
        speech = self._stretcher.push(self._trimmer.push(samples))
        if self._is_timed or not len(speech):
            return AudioChunk(speech)
        self._is_timed = True
        dropped = self.decoding.first_frame * FRAME_SAMPLES + self._trimmer.dropped_samples
        words = word_times(self._words, self.prosody.token_frames, dropped, self._stretch)
        return AudioChunk(speech, words)

    def tail(self) -> Samples:
        """Return the audio that is left after the last span, shape (n,)."""
        return np.concatenate([self._stretcher.push(self._trimmer.end()), self._stretcher.end()])


class Synthesizer:
    """The loaded model and the pronunciation. All methods block.

    The two are not thread-safe, but they share no mutable state. Call `pronounce` from one thread
    only, and `prepare` and `decode` from one thread only, which may be another.

    Args:
        model_dir: See `Engine`.
        threads: The number of threads of one synthesis.
        provider: The execution provider of the model.
        own_styles: See `Engine`.
        name_pictures: Whether the names of emoji are said.

    Raises:
        ModelError: The model directory is incomplete or damaged, or the provider is unusable.
    """

    def __init__(
        self,
        model_dir: Path,
        threads: int,
        provider: ExecutionProvider = "cpu",
        *,
        own_styles: Mapping[str, Samples] | None = None,
        name_pictures: bool = False,
    ) -> None:
        self.engine = Engine(model_dir, threads, provider, own_styles)
        self.pronouncer = Pronouncer(name_pictures=name_pictures)
        self.table: NormStatisticsTable | None = None
        """Predicts norm statistics; None if the table belongs to another model."""
        try:
            self.table = NormStatisticsTable.load(TABLE_PATH, self.engine.model_sha256)
        except ModelError as error:
            logger.warning("every sentence will be decoded whole: %s", error)

    def pronounce(
        self, segment: Segment, voice: Voice, lexicons: Sequence[Lexicon] = ()
    ) -> Pronunciation:
        """Return the sentences of `segment`, and the words that cannot be spoken.

        Args:
            segment: Text to speak in one run.
            voice: The voice that will speak it. Its language is that of the text.
            lexicons: Pronunciations of words. The first one that has a word counts.
        """
        words = [
            replace(word, phonemes=self.engine.known(word.phonemes))
            for word in self.pronouncer.words(segment.text, voice.language, lexicons)
        ]
        # The model babbles if its input is punctuation alone.
        spoken = [run for run in split(words, MAX_PHONEMES) if has_sound(phonemes_of(run))]
        pauses_s = [WORD_PAUSE_S] * (len(spoken) - 1) + [segment.pause_s]
        return Pronunciation(
            [Sentence(*sentence) for sentence in zip(spoken, pauses_s, strict=False)],
            [word.text for word in words if word.is_unspoken],
        )

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
        """Compute everything that is needed to decode a sentence.

        Args:
            sentence: See `pronounce`.
            voice: A voice, or mix, whose components are in the model directory.
            speed: 1.0 is the voice's own speed; 2.0 takes about half the time.
            cancellation: Ends the work early.
            windowed: Whether the sentence may be decoded in windows. If not, it is decoded whole.
            frame_work_s: The time to decode one frame, in seconds.

        Raises:
            ModelError: The voice's file is missing or has the wrong size.
            WorkCancelled: The work was cancelled.
        """
        prosody = self.engine.prosody(sentence.phonemes, voice, model_speed(speed), cancellation)
        predicted: NormStatistics | None = None
        table = self.table if windowed and not WINDOW_LIMITS.too_short(prosody.frames) else None
        if table is not None and table.allows_windows(voice):
            predicted = table.predict(prosody, voice)
        return PreparedSentence(
            sentence, voice, speed / model_speed(speed), prosody, predicted, frame_work_s
        )

    def decode(
        self, prepared: PreparedSentence, span: Span, cancellation: Cancellation
    ) -> AudioChunk:
        """Decode the next span of a sentence. The table learns from sentences decoded whole.

        Args:
            prepared: A sentence that this synthesizer prepared.
            span: The span that `prepared.decoding.next` returned.
            cancellation: Ends the work early.

        Raises:
            WorkCancelled: The work was cancelled.
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
        return prepared.trimmed(samples)
