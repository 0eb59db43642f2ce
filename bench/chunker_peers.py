"""Run one sentence chunker in its own environment, for ``bench.chunker``.

    python chunker_peers.py NAME < jobs.json > results.json

It imports nothing of the project except, for the name ``ours``, the chunker itself. It imports a
peer's package only if NAME is that peer.

A job ``{"language": …, "fragments": […]}`` feeds the fragments. Its result lists the chunks as
``[text, index of the fragment that completed it]``; the index is null for a chunk that was returned
at the end of the text. A job ``{"text": …, "seconds": …}`` measures CPU time instead. Its result is
a list of ``[characters, seconds]`` for growing prefixes of the text.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

FRAGMENT_CHARS = 4
SIZES = (4000, 8000, 16000, 32000, 64000)


class Chunker(NamedTuple):
    """The two operations of a chunker that the benchmark uses."""

    feed: Callable[[str], list[str]]
    """Take a fragment and return the sentences that it completes."""
    finish: Callable[[], list[str]]
    """Return what is left at the end of the text."""


def resplitting(split: Callable[[str], list[str]]) -> Chunker:
    """Turn a splitter of whole texts into a streaming chunker.

    With each fragment, it splits all text it holds again and returns all sentences but the last, as
    integrations of such splitters commonly do.
    """
    held = ""

    def feed(fragment: str) -> list[str]:
        nonlocal held
        held += fragment
        done = [sentence for sentence in split(held) if sentence.strip()][:-1]
        position = 0
        for sentence in done:
            found = held.find(sentence.strip(), position)
            if found < 0:  # the splitter changed the text, so it cannot be cut safely yet
                return []
            position = found + len(sentence.strip())
        held = held[position:]
        return done

    return Chunker(feed, lambda: split(held) if held.strip() else [])


def ours(language: str) -> Chunker:
    """Return this project's chunker."""
    from sentences.chunker import IncrementalSentenceChunker

    chunker = IncrementalSentenceChunker(language)
    return Chunker(chunker.feed, lambda: [rest] if (rest := chunker.flush()) else [])


def stream2sentence(language: str) -> Chunker:
    """Return stream2sentence's splitter, configured not to wait for longer chunks."""
    from stream2sentence.stream2sentence import SentenceSplitter

    splitter = SentenceSplitter(
        language=language,
        minimum_sentence_length=1,
        minimum_first_fragment_length=1,
        auto_context=True,
    )

    def feed(fragment: str) -> list[str]:
        splitter.add(fragment)
        return list(splitter.stream())

    return Chunker(feed, lambda: list(splitter.flush()))


def sentencex(language: str) -> Chunker:
    """Return sentencex, which splits the text again with each fragment."""
    from sentencex import segment

    return resplitting(lambda text: list(segment(language, text)))


def pysbd(language: str) -> Chunker:
    """Return pySBD, which splits the text again with each fragment.

    English rules apply to languages that it does not support.
    """
    import pysbd as package

    known = language in package.languages.LANGUAGE_CODES
    segmenter = package.Segmenter(language=language if known else "en", clean=False)
    return resplitting(segmenter.segment)


def blingfire(language: str) -> Chunker:
    """Return BlingFire, which splits the text again with each fragment.

    It has one model for all languages.
    """
    from blingfire import text_to_sentences_and_offsets

    def split(text: str) -> list[str]:
        _, offsets = text_to_sentences_and_offsets(text)
        return [text[start:end] for start, end in offsets]

    return resplitting(split)


def pipecat(language: str) -> Chunker:
    """Return Pipecat's SimpleTextAggregator; its coroutines never suspend."""
    from pipecat.utils.text.simple_text_aggregator import SimpleTextAggregator

    aggregator = SimpleTextAggregator(language=language)

    def result(coroutine: Any) -> list[str]:
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return list(stop.value)
        raise RuntimeError("the aggregator suspended")

    async def aggregate(fragment: str) -> list[str]:
        return [sentence.text async for sentence in aggregator.aggregate(fragment)]

    async def flush() -> list[str]:
        sentence = await aggregator.flush()
        return [sentence.text] if sentence else []

    return Chunker(lambda fragment: result(aggregate(fragment)), lambda: result(flush()))


CHUNKERS: dict[str, Callable[[str], Chunker]] = {
    make.__name__: make for make in (ours, stream2sentence, sentencex, pysbd, blingfire, pipecat)
}


def run(make: Callable[[str], Chunker], job: dict[str, Any]) -> list[list[Any]]:
    """Feed one job's fragments. Return each chunk with the index of the completing fragment."""
    chunker = make(job["language"])
    found: list[list[Any]] = []
    for index, fragment in enumerate(job["fragments"]):
        found += ([chunk.strip(), index] for chunk in chunker.feed(fragment) if chunk.strip())
    found += ([chunk.strip(), None] for chunk in chunker.finish() if chunk.strip())
    return found


def clock(make: Callable[[str], Chunker], job: dict[str, Any]) -> list[list[float]]:
    """Measure the CPU time for growing prefixes of a text, until one takes too long."""
    times: list[list[float]] = []
    for size in SIZES:
        text = job["text"][:size]
        best_s = float("inf")
        for _ in range(3):
            chunker = make(job["language"])
            started_s = time.process_time()
            for start in range(0, size, FRAGMENT_CHARS):
                chunker.feed(text[start : start + FRAGMENT_CHARS])
                seldom = start % (64 * FRAGMENT_CHARS) == 0  # reading the clock takes time
                if seldom and time.process_time() - started_s > job["seconds"]:
                    return times
            best_s = min(best_s, time.process_time() - started_s)
            if best_s > job["seconds"] / 4:
                break
        times.append([size, best_s])
    return times


def main(name: str) -> None:
    """Run the jobs on standard input and print their results."""
    make = CHUNKERS[name]
    results: list[Any] = []
    for job in json.load(sys.stdin):
        try:
            results.append(clock(make, job) if "text" in job else run(make, job))
        except Exception as error:  # noqa: BLE001 - a peer's crash is a result, too
            print(f"{name}: {error!r}", file=sys.stderr)
            results.append(None)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
