"""Who is served next, simulated: deadlines and windows against queues and locks.

    python -m bench.scheduling [--out bench/results/scheduling.md]

A discrete-event simulation of speaking sessions on one engine. The server's own `Scheduler`,
`Listener`, `Admission` and `Decoding` decide; what work costs and how long sentences are are inputs
(`bench.server` measures both, and compares what comes of it with the real server).
"""

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from bench.report import argument_parser, document, publish, table
from bench.turns import POOL, Turn, turns
from kokoro_server.admission import Admission
from kokoro_server.listener import Listener
from kokoro_server.scheduler import Scheduler
from kokoro_server.settings import Settings
from kokoro_server.utterance import SpeechRequest, Tally, Utterance
from kokoro_voice.decoding import Decoding
from kokoro_voice.voices import Voice
from kokoro_voice.windows import (
    CONTEXT_FRAMES,
    FRAME_S,
    WINDOW_LIMITS,
    SpokenFrames,
    WindowLimits,
)

SESSIONS = range(1, 9)
RUN_S = 3600.0
VOICE = Voice("af_heart", (("af_heart", 1.0),))
HEADROOM = Settings.model_fields["admission_headroom"].default


@dataclass(frozen=True)
class Costs:
    """Seconds that work takes: so many, and so many for each frame.

    The defaults are of two threads on two cores of an AMD EPYC, undisturbed; `bench.server`
    measures.
    """

    prosody: tuple[float, float] = (0.01, 0.0010)
    whole: tuple[float, float] = (0.0, 0.0052)
    """Decoding a sentence at once."""
    window: tuple[float, float] = (0.01, 0.0044)
    """Decoding a window; the frames are those of the window and of its context."""
    pronounce_s: float = 0.003
    """From text to phonemes, for a sentence. Not the engine's work."""


@dataclass(frozen=True)
class Spoken:
    """A sentence as the model speaks it, in frames of 25 ms."""

    chars: int
    frames: int
    """With the silence around it."""
    spoken: SpokenFrames
    """What windows cover."""
    audible: tuple[int, int]
    """The first frame that trimming leaves, and the one after the last."""
    pause_s: float = 0.3
    """Sent after it."""

    @property
    def audio_s(self) -> float:
        """Seconds of audio that are sent."""
        return FRAME_S * (self.audible[1] - self.audible[0]) + self.pause_s


def estimated(sentence: str) -> Spoken:
    """How a sentence is spoken, by its length: 19 characters a second, as af_heart does."""
    frames = round(len(sentence) / 19 / FRAME_S)
    return Spoken(
        len(sentence), frames + 25, SpokenFrames(9, 15, frames + 13), audible=(10, frames + 10)
    )


@dataclass(eq=False)
class Work:
    """Work for the engine."""

    session: "_Session"
    work_s: float
    audio_s: float
    """What there is to hear of it; nothing of prosody."""


class FirstComeFirstServed[Item](Scheduler[Item]):
    """What servers have otherwise: a queue, or a lock, which is a queue of those who wait.

    A sentence has its place once: it goes on with its second item when the first is done.
    """

    def __init__(self) -> None:
        super().__init__()
        self._served: Listener | None = None

    def rank(self, listener: Listener) -> tuple[float, int]:
        """Deadlines do not matter."""
        return float(listener is not self._served), super().rank(listener)[1]

    def next(self) -> Item | None:
        """Take the work to do now, or None while nothing waits."""
        self._served = min(self._waiting, key=self.rank, default=None)
        return super().next()


@dataclass(frozen=True)
class Strategy:
    """How a server synthesizes, and in which order."""

    name: str
    scheduler: Callable[[], Scheduler[Work]]
    headroom: float
    """Of admission; with 0 everybody is let in."""
    windows: bool = False
    limits: WindowLimits = WINDOW_LIMITS
    whole_reply: bool = False
    """A reply is one request, sent when it is complete and synthesized as one."""


WINDOWS = Strategy("deadlines, windows", Scheduler, HEADROOM, windows=True)
SENTENCES = Strategy("deadlines, sentences", Scheduler, HEADROOM)
QUEUE = Strategy("first come, first served, sentences", FirstComeFirstServed, 0.0)
LOCK = Strategy("one lock, whole replies", FirstComeFirstServed, 0.0, whole_reply=True)
STRATEGIES = [WINDOWS, SENTENCES, QUEUE, LOCK]


@dataclass
class Outcome:
    """What the listeners of a run had."""

    first_sound_s: list[float] = field(default_factory=list)
    """Of each turn, from its first sentence's arrival."""
    gaps_s: list[float] = field(default_factory=list)
    """Of each turn, how long playback stood still."""
    refused: int = 0
    """Turns that got `busy`."""
    work_s: float = 0.0
    audio_s: float = 0.0

    @property
    def turns_with_gaps(self) -> int:
        """Turns in which the listener ran dry."""
        return sum(gap_s > 0 for gap_s in self.gaps_s)

    @property
    def gap_share(self) -> float:
        """Turns in which the listener ran dry, as a share of those that were not refused."""
        return self.turns_with_gaps / len(self.gaps_s)

    @property
    def refused_share(self) -> float:
        """Refused turns as a share of all."""
        return self.refused / (len(self.gaps_s) + self.refused)

    def first_sound(self, percentile: float) -> float:
        """A percentile of the first sounds, in seconds; nan without turns."""
        return (
            float(np.percentile(self.first_sound_s, percentile)) if self.first_sound_s else math.nan
        )


def _cost_s(line: tuple[float, float], frames: int) -> float:
    return line[0] + line[1] * frames


def _utterance(sentences: list[Spoken], listener: Listener, received_s: float) -> Utterance:
    text = "x" * sum(sentence.chars for sentence in sentences)
    return Utterance(SpeechRequest("", text, VOICE), listener, received_s)


def _warm(strategy: Strategy, costs: Costs) -> Utterance:
    """What a server has measured when it is ready: one sentence, whole or in three windows."""
    one = estimated(POOL[12])
    work_s = _cost_s(costs.prosody, one.frames)
    chunks = 3 if strategy.windows else 1
    if strategy.windows:
        frames = (one.spoken.end - one.spoken.start) // chunks + 2 * CONTEXT_FRAMES
        work_s += chunks * _cost_s(costs.window, frames)
    else:
        work_s += _cost_s(costs.whole, one.frames)
    utterance = _utterance([one], Listener(), 0.0)
    utterance.tally = Tally(work_s, one.audio_s, chunks)
    return utterance


class _Spells:
    """A machine that is not one's own: for 5 to 40 s at a time, work takes longer."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._slowdown, self._until_s = 1.0, 0.0

    def work_s(self, work_s: float, now_s: float) -> float:
        """How long work takes that begins now and would take so long undisturbed."""
        while now_s >= self._until_s:
            self._slowdown = self._chance.choice((1.0, 1.0, 1.25, 1.5))
            self._until_s += self._chance.uniform(5.0, 40.0)
        return work_s * self._slowdown


class _World:
    """Time and the engine."""

    def __init__(
        self, strategy: Strategy, costs: Costs, run_s: float, spells: _Spells | None
    ) -> None:
        self._spells = spells
        self.strategy = strategy
        self.costs = costs
        self.run_s = run_s
        self.now_s = 0.0
        self.scheduler = strategy.scheduler()
        self.admission = Admission(strategy.headroom)
        self.admission.learn(_warm(strategy, costs))
        self.outcome = Outcome()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._places = itertools.count()
        self._busy = False

    def after(self, wait_s: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now_s + wait_s, next(self._places), event))

    def run(self) -> None:
        while self._events:
            self.now_s, _, event = heapq.heappop(self._events)
            event()

    def pick(self) -> None:
        """Let the engine begin the next work, if it is free."""
        if self._busy or (work := self.scheduler.next()) is None:
            return
        self._busy = True
        if self._spells is not None:
            work.work_s = self._spells.work_s(work.work_s, self.now_s)
        self.outcome.work_s += work.work_s

        def done() -> None:
            self._busy = False
            work.session.finished(work)
            self.pick()

        self.after(work.work_s, done)


class _Session:
    """One caller: turns, texts in flight, and playback."""

    def __init__(
        self, world: _World, to_come: Iterator[Turn], spoken: Callable[[str], Spoken]
    ) -> None:
        self._world = world
        self._turns = to_come
        self._spoken = spoken
        self._listener = Listener()
        self._texts: deque[tuple[Utterance, list[Spoken]]] = deque()
        self._work: Iterator[Work] | None = None
        self._to_arrive: deque[tuple[float, list[Spoken]]] = deque()
        self._texts_to_end = 0
        self._began_s = 0.0
        self._heard_until_s: float | None = None
        self._gap_s = 0.0
        self._begin_turn()

    def _begin_turn(self) -> None:
        turn = next(self._turns)
        if self._world.now_s + turn.silence_s > self._world.run_s:
            return
        sentences = [self._spoken(sentence) for sentence in turn.sentences]
        self._heard_until_s = None
        self._gap_s = 0.0
        if self._world.strategy.whole_reply:
            arrivals = [(turn.offsets_s[-1], sentences)]
        else:
            arrivals = [(at_s, [one]) for at_s, one in zip(turn.offsets_s, sentences, strict=True)]
        self._texts_to_end = len(arrivals)
        self._began_s = self._world.now_s + turn.silence_s
        self._to_arrive = deque(arrivals)
        self._world.after(turn.silence_s + arrivals[0][0], self._arrives)

    def _arrives(self) -> None:
        """The next text of the turn is here."""
        world = self._world
        at_s, sentences = self._to_arrive.popleft()
        utterance = _utterance(sentences, self._listener, world.now_s)
        if not world.admission.accept(utterance):
            world.outcome.refused += 1
            self._begin_turn()
            return
        self._texts.append((utterance, sentences))
        if self._to_arrive:
            world.after(self._to_arrive[0][0] - at_s, self._arrives)
        if self._work is None:
            self._next_text()

    def _next_text(self) -> None:
        utterance, sentences = self._texts[0]
        utterance.begin(self._world.now_s)
        self._work = self._work_for(sentences)
        self._world.after(self._world.costs.pronounce_s, self._next_work)

    def _next_work(self) -> None:
        assert self._work is not None
        work = next(self._work, None)
        if work is not None:
            self._world.scheduler.submit(self._texts[0][0], work)
            self._world.pick()
            return
        utterance, _ = self._texts.popleft()
        utterance.complete()
        self._world.admission.end(utterance)
        self._work = None
        self._texts_to_end -= 1
        if self._texts:
            self._next_text()
        elif not self._texts_to_end:
            assert self._heard_until_s is not None
            self._world.outcome.gaps_s.append(self._gap_s)
            self._world.after(self._heard_until_s - self._world.now_s, self._begin_turn)

    def _work_for(self, sentences: list[Spoken]) -> Iterator[Work]:
        costs, strategy = self._world.costs, self._world.strategy
        if strategy.whole_reply:
            work_s = sum(
                _cost_s(costs.prosody, one.frames) + _cost_s(costs.whole, one.frames)
                for one in sentences
            )
            yield Work(self, work_s, sum(one.audio_s for one in sentences))
            return
        shared_frames = strategy.limits.longest_shared_frames
        for one in sentences:
            yield Work(self, _cost_s(costs.prosody, one.frames), 0.0)
            decoding = Decoding(
                one.frames,
                one.spoken,
                windowed=strategy.windows,
                frame_work_s=_cost_s(costs.window, shared_frames) / shared_frames,
                limits=strategy.limits,
            )
            while True:
                span = decoding.next(
                    self._listener.buffered_s(self._world.now_s),
                    self._world.scheduler.is_contended(self._texts[0][0]),
                )
                if span is None:
                    break
                cost = costs.whole if span.whole else costs.window
                heard = min(span.end, one.audible[1]) - max(span.start, one.audible[0])
                pause_s = one.pause_s if span.end >= one.spoken.end else 0.0
                audio_s = FRAME_S * max(0, heard) + pause_s
                yield Work(self, _cost_s(cost, span.work_frames), audio_s)

    def finished(self, work: Work) -> None:
        """The engine has done it."""
        utterance, _ = self._texts[0]
        utterance.tally.engine_s += work.work_s
        now_s = self._world.now_s
        if work.audio_s > 0:
            utterance.add_audio(work.audio_s, now_s)
            self._world.outcome.audio_s += work.audio_s
            if self._heard_until_s is None:
                self._world.outcome.first_sound_s.append(now_s - self._began_s)
                self._heard_until_s = now_s
            late_s = max(0.0, now_s - self._heard_until_s)
            self._gap_s += late_s
            self._heard_until_s += late_s + work.audio_s
        self._next_work()


def simulate(
    strategy: Strategy,
    sessions: int,
    costs: Costs,
    spoken: Callable[[str], Spoken] = estimated,
    run_s: float = RUN_S,
    seed: int = 1,
    slow_spells: bool = False,
) -> Outcome:
    """Let so many sessions take turns, which begin within `run_s` seconds.

    Args:
        strategy: how the server works.
        sessions: who speak at once.
        costs: of the work.
        spoken: how the model speaks a sentence.
        run_s: simulated time.
        seed: of the turns.
        slow_spells: whether work takes up to half as long again, now and then.
    """
    world = _World(strategy, costs, run_s, _Spells(seed) if slow_spells else None)
    for number in range(sessions):
        _Session(world, turns(seed, number), spoken)
    world.run()
    return world.outcome


def outcomes_table(runs: dict[tuple[int, str], Outcome]) -> str:
    """Outcomes by sessions and name, as Markdown."""
    return table(
        "sessions | | first sound, s: median | 95th | turns with a gap | gaps, s | refused turns",
        (
            f"{sessions} | {name} | {outcome.first_sound(50):.2f} | {outcome.first_sound(95):.2f} "
            f"| {outcome.gap_share:.1%} | {sum(outcome.gaps_s):.1f} | {outcome.refused_share:.1%}"
            for (sessions, name), outcome in runs.items()
        ),
    )


def plot(runs: dict[tuple[int, str], Outcome], file: Path) -> None:
    """Draw first sound, gaps and refusals over the number of sessions."""
    # Here, because a development package: `bench.server` does not need it.
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "scheduling"  # the same file for the same numbers
    figure, (sound, gaps, refused) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for strategy in STRATEGIES:
        outcomes = [runs[sessions, strategy.name] for sessions in SESSIONS]
        for panel, values in (
            (sound, [outcome.first_sound(95) for outcome in outcomes]),
            (gaps, [100 * outcome.gap_share for outcome in outcomes]),
            (refused, [100 * outcome.refused_share for outcome in outcomes]),
        ):
            panel.plot(SESSIONS, values, marker="o", label=strategy.name)
    sound.set(title="first sound, 95th percentile", ylabel="seconds", yscale="log")
    gaps.set(title="turns in which the listener ran dry", ylabel="%")
    refused.set(title="turns refused as busy", ylabel="%")
    for panel in (sound, gaps, refused):
        panel.set(xlabel="speaking sessions")
        panel.grid(alpha=0.3)
    gaps.legend(fontsize="small", loc="upper left")
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def choices() -> dict[tuple[int, str], Outcome]:
    """Four sessions on a machine with slow spells, with other values of what was chosen so."""

    def outcome(strategy: Strategy = WINDOWS) -> Outcome:
        return simulate(strategy, 4, Costs(), run_s=3 * RUN_S, slow_spells=True)

    runs = {(4, QUEUE.name): outcome(QUEUE)}
    for headroom in (1.0, 1.2, 1.35, 1.5):
        runs[4, f"headroom: {headroom}"] = outcome(replace(WINDOWS, headroom=headroom))
    for reserve_s in (0.0, 1.0, 1.5, 2.0, 2.5):
        scheduler = partial(Scheduler[Work], reserve_s)
        runs[4, f"reserve, s: {reserve_s}"] = outcome(replace(WINDOWS, scheduler=scheduler))
    for frames in (32, 64, 96, 192):
        limits = WindowLimits(longest_shared_frames=frames)
        runs[4, f"shared window, frames: {frames}"] = outcome(replace(WINDOWS, limits=limits))
    return runs


def main() -> None:
    """Simulate, print the tables, and write them and the plot where `--out` says."""
    arguments = argument_parser("scheduling", __doc__).parse_args()
    runs = {
        (sessions, strategy.name): simulate(strategy, sessions, Costs())
        for sessions in SESSIONS
        for strategy in STRATEGIES
    }
    report = document(
        "# Whose sentence is next: a simulation",
        f"`python -m bench.scheduling`: {RUN_S / 3600:g} h of turns for each line (replies of "
        "2 to 5 sentences of 5 to 25 words at a language model's pace, 2 to 8 s of silence "
        f"between). {Costs()}. First sound counts from the arrival of a reply's first "
        "sentence; a gap is playback that stands still. Only deadlines come with admission: "
        "what they refuse, the others keep waiting.",
        "![](scheduling.svg)",
        outcomes_table(runs),
        "Four sessions on a machine whose work takes up to half as long again, for 5 to 40 s "
        "at a time, and what was chosen by that with other values (3 h each):",
        outcomes_table(choices()),
    )
    publish(report, arguments.out)
    if arguments.out:
        plot(runs, arguments.out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
