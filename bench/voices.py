"""Writes `docs/voices.md` and a sample of each voice.

    python -m bench.voices [--page]

The page lists the voices that the server serves. It depends on committed files alone; `--page`
writes it without the samples. The samples need the model, which is built first if it is missing.
They are spoken the way the server speaks to a single listener, and they are not normalized.
"""

import argparse
import asyncio
import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from bench import ROOT
from bench.report import document, table
from bench.samples import FOLDER, write_mp3
from kokoro_model.manifest import load_manifest
from kokoro_server.settings import Settings
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples, silence
from kokoro_voice.languages import LANGUAGES
from kokoro_voice.norm_statistics import (
    LEARNED_VOICES,
    SENTENCES_TO_LEARN,
    read_provenance,
)
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.synthesizer import Synthesizer
from kokoro_voice.text import segments
from kokoro_voice.voices import MAX_COMPONENTS, MAX_WEIGHT, MIN_WEIGHT, MODEL_VOICES, Voice, Voices
from kokoro_voice.windows import FRAME_S, WINDOW_LIMITS
from local.progress import show
from local.supervisor import model_dir

PATH = ROOT / "docs" / "voices.md"
THREADS = 2

LANGUAGE_NAMES = {
    "en-us": "American English",
    "en-gb": "British English",
    "es": "Spanish",
    "fr-fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "pt-br": "Brazilian Portuguese",
    "cmn": "Mandarin",
}
_SEXES = {"f": "female", "m": "male"}

_ENGLISH = "Hello, I am {name}, and I start talking at the first sentence."
TEXTS = {
    "en-us": _ENGLISH,
    "en-gb": _ENGLISH,
    "es": "Hola, empiezo a hablar en cuanto está lista la primera frase.",
    "fr-fr": "Bonjour, je commence à parler dès que la première phrase est prête.",
    # No verb of the speaker's: its ending would tell the speaker's sex.
    "hi": "नमस्ते, पहला वाक्य पूरा होते ही मेरी आवाज़ आती है।",
    "it": "Ciao, comincio a parlare appena la prima frase è pronta.",
    "ja": "こんにちは、最初の文ができたら、すぐに話し始めます。",
    "pt-br": "Olá, eu começo a falar assim que a primeira frase fica pronta.",
    "cmn": "你好，第一句话一准备好，我就开始说话。",
}
"""What a sample says, by language. Each takes long enough to be spoken in windows."""
# The rules of pronunciation say "AY-uh-ed".
_PHONEMES = {"Aoede": "[Aoede](/Aˈidi/)"}

MIX = "af_bella(2)+af_sky(1)"
MIX_TEXT = "Hello, this is a mix of two parts Bella and one part Sky."


@dataclass(frozen=True)
class Sample:
    """One sample.

    Attributes:
        voice: A voice or a mix, as a request names it.
        text: What it says, in plain words.
    """

    voice: str
    text: str

    @property
    def path(self) -> Path:
        """The sample's file."""
        name = re.sub(r"\(.*?\)", "", self.voice).replace("+", "-")
        return FOLDER / f"{name}.mp3"

    @property
    def request(self) -> str:
        """The text as a request gives it, with phonemes where the rules do not know a name."""
        text = self.text
        for name, phonemes in _PHONEMES.items():
            text = text.replace(name, phonemes)
        return text

    @property
    def link(self) -> str:
        """The sample as a link of the page."""
        return f"[listen]({self.path.relative_to(PATH.parent)})"


def samples(voices: Voices) -> list[Sample]:
    """Return a sample of each of `voices` and one of a mix."""
    return [
        *(
            Sample(name, TEXTS[LANGUAGES[name[0]]].format(name=plain_name(name)))
            for name in voices.names
        ),
        Sample(MIX, MIX_TEXT),
    ]


def plain_name(voice: str) -> str:
    """Return a voice's name in plain words: `Heart` for `af_heart`."""
    return voice.partition("_")[2].title()


def served() -> Voices:
    """Return the voices that the server serves; this needs no model."""
    return Voices(list(MODEL_VOICES), Settings.model_fields["default_voice"].default)


def speak(synthesizer: Synthesizer, voice: Voice, text: str, *, windowed: bool = True) -> Samples:
    """Speak `text` as the server does for a single listener, in windows or whole sentences."""
    spoken: list[Samples] = []
    for segment in segments(text, voice.language):
        for sentence in synthesizer.pronounce(segment, voice).sentences:
            prepared = synthesizer.prepare(sentence, voice, 1.0, Cancellation(), windowed=windowed)
            buffered_s = 0.0
            while (span := prepared.decoding.next(buffered_s)) is not None:
                spoken.append(synthesizer.decode(prepared, span, Cancellation()).samples)
                buffered_s += len(spoken[-1]) / SAMPLE_RATE_HZ
            spoken += [prepared.tail(), silence(sentence.pause_s)]
    return np.concatenate(spoken)


def page(voices: Voices) -> str:
    """Return `docs/voices.md`."""
    languages = [LANGUAGE_NAMES[language] for language in LANGUAGES.values()]
    return document(
        "# Voices",
        "<!-- Written by `python -m bench.voices`. -->",
        f"The server serves {len(voices.names)} voices. They speak {', '.join(languages[:-1])} and "
        f"{languages[-1]}. The default voice is `{voices.default.name}`. You can also "
        "[mix](#mixes) voices of one language and change the [speed](#speed).",
        "The first letter of a voice's name stands for its language, and the second is "
        "`f` for a female or `m` for a male voice: `af_heart` is a female voice that speaks "
        "American English.",
        "## Choose a voice",
        _choices(),
        "The agent names a voice in every request that it sends to the speech server. "
        "`default_voice` and `KOKORO_DEFAULT_VOICE` therefore apply only to clients that talk to "
        "the speech server themselves. [settings.md](settings.md) lists all settings. If a request "
        "names a voice that is not served, the error `unknown_voice` lists those that are.",
        "The scripted replies of `make say` are English. To hear another language, have a text "
        "read aloud:",
        '```sh\nmake say SAY="Hola. ¿En qué puedo ayudarte?" VOICE=ef_dora OUT=hola.wav\n```',
        "## The voices",
        "Each sample says one sentence at normal speed. The samples are not normalized: some "
        "voices are louder than others. With `KOKORO_LEVEL_VOICES=true`, the server makes all "
        "voices as loud as `af_heart`, and a mix by the weighted mean of its voices' gains in dB.",
        *_windows(),
        *_tables(voices),
        "## Mixes",
        *_mixes(voices),
        "## A voice of your own",
        *_own(),
        "## Speed",
        "The field `speed` of a request is a number from 0.5 to 2. The default is 1, the voice's "
        "own pace; at 2, the speech takes about half the time. The model itself speaks at 1 to "
        "1.25. For other speeds, the server stretches or compresses its audio, which keeps the "
        "pitch ([streaming.md](streaming.md#speed)).",
        "## Languages",
        "The language of the voice is the language in which a text is read. It selects the rules "
        "of pronunciation, and the rules with which the agent finds the end of a sentence. A text "
        "in another language is mispronounced, because the voice applies its own rules to it.",
        "The voice does not change the language in which the language model writes. To choose that "
        "language, name it in `system_prompt` of `[agent]`, or in `SYSTEM` of `make demo`. The "
        "key `language` of `[agent]` (`VOICE_AGENT_LANGUAGE`) replaces only the "
        "rules for the end of a sentence.",
        "## Source and license",
        _license(),
    )


def _choices() -> str:
    ask = '{"type": "prompt", "prompt": "Tell me about the harbor.", "voice": "bf_emma"}'
    return table(
        "for | how",
        [
            "one request, to the agent or to the speech server | the field `voice` "
            f"([protocol.md](protocol.md)): `{ask}`",
            "one reply on your machine | `make say VOICE=bf_emma`",
            "all replies of a deployed agent | `voice` in `[agent]` of the environment's file",
            "requests to a deployed speech server | `default_voice` in `[speech]` of the "
            "environment's file",
            "requests to a local speech server | `KOKORO_DEFAULT_VOICE=bf_emma make container`",
        ],
    )


def _windows() -> list[str]:
    provenance = read_provenance()
    names = [f"`{name}`" for name in sorted(provenance.sentence_voices)]
    return [
        "The server decodes the sentences of most voices in windows: it sends the first audio "
        "before it has decoded the rest of the sentence. The sentences of "
        f"{', '.join(names[:-1])} and {names[-1]} are decoded whole. With windows, these voices "
        "missed a limit of [the quality benchmark](../bench/results/quality.md) in at least one "
        f"run. Sentences shorter than {WINDOW_LIMITS.short_frames * FRAME_S:g} s are decoded whole "
        "in every voice."
    ]


def _tables(voices: Voices) -> list[str]:
    provenance = read_provenance()
    paragraphs = []
    for letter, names in groupby(samples(voices)[:-1], key=lambda sample: sample.voice[0]):
        language = LANGUAGES[letter]
        rows = [
            " | ".join(
                (
                    f"`{sample.voice}`"
                    + (" (default)" if sample.voice == voices.default.name else ""),
                    plain_name(sample.voice),
                    _SEXES[sample.voice[1]],
                    "windows"
                    if provenance.allows_windows(voices.resolve(sample.voice))
                    else "whole sentences",
                    sample.link,
                )
            )
            for sample in names
        ]
        paragraphs += [
            f"### {LANGUAGE_NAMES[language]} (`{language}`)",
            f"“{TEXTS[language].format(name='NAME')}”",
            table("voice | name | sex | speaks in | sample", rows),
        ]
    return paragraphs


def _mixes(voices: Voices) -> list[str]:
    mix = samples(voices)[-1]
    return [
        f"A request can name a mix of at most {MAX_COMPONENTS} voices of one language instead of "
        f"a voice. Each has a weight from {MIN_WEIGHT:g} to {MAX_WEIGHT:g} in parentheses; a voice "
        "without one has the weight 1. Weights count in proportion to one another.",
        table("mix | says | sample", [f"`{mix.voice}` | “{mix.text}” | {mix.link}"]),
        "The shell needs quotation marks around a mix:",
        f'```sh\nmake say VOICE="{mix.voice}"\n```',
        "The server decodes every sentence of a mix whole until it has learned from "
        f"{SENTENCES_TO_LEARN} sentences of at least {WINDOW_LIMITS.short_frames * FRAME_S:g} s. "
        f"Then it decodes them in windows. It remembers {LEARNED_VOICES} mixes, in memory only.",
    ]


def _own() -> list[str]:
    return [
        "A deployment can add voices that were made for Kokoro-82M. A voice is a file `NAME.npy` "
        "with float32 numbers of the shape (510, 1, 256) or (510, 256): the style for each number "
        "of phonemes. Its name is a letter of a language above, `f` or `m`, an underscore and a "
        "name in lower case, such as `af_ann`. Convert a file `.pt` on a machine with PyTorch:",
        "```console\n$ python -c \"import numpy, torch; numpy.save('af_ann.npy', "
        "torch.load('af_ann.pt', weights_only=True).numpy())\"\n```",
        "Put the file into [container/voices/](../container/voices/README.md). The next deployment "
        "makes it part of the speech image, and the settings and requests can name it. To serve "
        "voices from another folder, for example a mounted one, set `KOKORO_VOICES_DIR`. At the "
        "start, the server logs the SHA-256 of each file. If a file is not a voice, the server "
        "does not start, and the message says what is wrong with it.",
        "Such a voice is not calibrated, so the server decodes its sentences as those of a mix.",
    ]


def _license() -> str:
    (source,) = (file for file in load_manifest().files("packages") if file.role == "voices")
    return (
        "The voices are those of [Kokoro-82M](https://huggingface.co/hexgrad/Kokoro-82M) by "
        f"hexgrad, under the license {source.licence}. The build takes them from {source.package} "
        f"{source.version} on {source.registry}; "
        "[container/kokoro_model/manifest.toml](../container/kokoro_model/manifest.toml) names "
        "each file with its license and hash. The samples on this page were made with them."
    )


def write_samples() -> None:
    """Speak and write all samples, and print how long and how loud they are."""
    directory = Path(asyncio.run(model_dir(show)))
    voices, synthesizer = served(), Synthesizer(directory, THREADS)
    FOLDER.mkdir(exist_ok=True)
    for sample in samples(voices):
        audio = speak(synthesizer, voices.resolve(sample.voice), sample.request)
        write_mp3(sample.path, audio)
        peak, mean = np.abs(audio).max(), np.sqrt(np.square(audio).mean())
        print(
            f"{sample.path.name:32} {len(audio) / SAMPLE_RATE_HZ:5.2f} s, "
            f"peak {20 * np.log10(peak):6.1f} dB, mean {20 * np.log10(mean):6.1f} dB",
            flush=True,
        )


def main() -> None:
    """Write the page and, unless `--page` is given, the samples."""
    parser = argparse.ArgumentParser("python -m bench.voices", description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="write the page only, not the samples")
    arguments = parser.parse_args()
    PATH.write_text(page(served()), encoding="utf-8")
    if not arguments.page:
        write_samples()


if __name__ == "__main__":
    main()
