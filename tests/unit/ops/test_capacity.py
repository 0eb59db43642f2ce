"""`ops capacity`: from sessions that speak at once to conversations an instance holds."""

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from ops import capacity
from ops.aws import OpsError
from ops.capacity import REFUSED, Demand, advise, conversations_for, explain, speaking_limit
from ops.load import Playback, Step, percentile
from stacks.settings import load

OVERLOAD = 0.02
DEMAND = Demand(talk_ratio=0.4, overload=0.01, headroom=0.2, conversations=100)


def step(sessions: int, first_audio_ms: float, **problems: object) -> Step:
    return Step(sessions, [first_audio_ms] * 20, **problems)  # type: ignore[arg-type]


def test_playback_that_never_waits_has_no_underrun() -> None:
    playback = Playback()
    for at_s, duration_s in ((1.0, 0.5), (1.2, 0.5), (1.9, 0.5)):
        playback.receive(at_s, duration_s)
    assert (playback.first_audio_s, playback.underruns) == (1.0, 0)
    assert playback.ends_at_s == pytest.approx(2.5)


def test_a_gap_is_one_underrun_and_playback_goes_on_from_there() -> None:
    """Without moving on, one gap would make every later chunk look late."""
    playback = Playback()
    for at_s, duration_s in ((0.0, 0.5), (0.7, 0.5), (1.1, 0.5)):
        playback.receive(at_s, duration_s)
    assert playback.underruns == 1
    assert playback.ends_at_s == pytest.approx(1.7)


def test_percentile_is_a_measured_value() -> None:
    values = [float(n) for n in range(1, 101)]
    assert percentile(values, 95) == 95.0
    assert percentile([7.0], 95) == 7.0
    assert math.isnan(percentile([], 95))


@pytest.mark.parametrize(
    "bad",
    [
        step(4, 900.0),
        step(4, 100.0, underruns=1),
        step(4, 100.0, errors=["busy"]),
        Step(4),
    ],
)
def test_a_step_beyond_any_limit_ends_the_ladder(bad: Step) -> None:
    """A later step that looks better got lucky, or served those who were left."""
    steps = [step(1, 100.0), step(2, 100.0), bad, step(8, 100.0)]
    assert speaking_limit(steps, 800) == 2


def test_nothing_speaks_within_the_limits() -> None:
    assert speaking_limit([step(1, 900.0)], 800) == 0
    advice = advise(0, DEMAND)
    assert (advice.conversations, advice.sessions_per_instance, advice.instances) == (0, 0, 0)
    assert "larger instance" in explain(advice, DEMAND)[0]


def chance_of_more(limit: int, n: int, p: float) -> float:
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(limit + 1, n + 1))


@pytest.mark.parametrize("speaking", [1, 2, 8, 30])
@pytest.mark.parametrize("talk_ratio", [0.1, 0.4, 0.9])
def test_conversations_are_the_most_within_the_overload(speaking: int, talk_ratio: float) -> None:
    """Dividing by the talk ratio would be right on average, and overloaded half of the time."""
    n = conversations_for(speaking, talk_ratio, OVERLOAD)
    assert speaking <= n <= math.ceil(speaking / talk_ratio)
    assert chance_of_more(speaking, n, talk_ratio) <= OVERLOAD
    assert chance_of_more(speaking, n + 1, talk_ratio) > OVERLOAD


def test_the_settings_follow_with_the_arithmetic_shown() -> None:
    advice = advise(8, DEMAND)
    assert advice.conversations == 11
    assert advice.sessions_per_instance == 8  # 11 × 0.8, rounded down
    assert advice.instances == 13  # 100 / 8, rounded up
    text = "\n".join(explain(advice, DEMAND))
    assert "11 × 0.80 → 8" in text
    assert text.endswith("sessions_per_instance = 8\nmaximum = 13")


def test_the_refusal_is_the_containers() -> None:
    """What the ladder takes for full must be what the container says."""
    source = Path(__file__).parents[3] / "container/kokoro_server/app.py"
    assert REFUSED in source.read_text()


def test_an_instance_for_one_conversation_is_still_of_use() -> None:
    """Headroom must not round the target down to nothing."""
    assert advise(1, DEMAND).sessions_per_instance == 1


def test_a_step_without_audio_shows_dashes() -> None:
    line, error = Step(2, errors=["no connection"]).line().splitlines()
    assert line.split() == ["2", "–", "–", "0", "1", "0.0"]
    assert error.strip() == "no connection"


def test_an_endpoint_that_cannot_be_reached_is_not_a_slow_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its advice would be a larger instance type."""

    async def climb(*_: object) -> AsyncIterator[Step]:
        yield Step(1, errors=["SageMaker runtime: ExpiredToken"])

    monkeypatch.setattr(capacity, "climb", climb)
    account = SimpleNamespace(settings=load("dev"))
    with pytest.raises(OpsError, match=r"no session could speak\n→ .*aws sso login"):
        asyncio.run(
            capacity.measure(
                account,  # type: ignore[arg-type]
                endpoint_name="kokoro-dev",
                ladder=[1],
                utterances=1,
                demand=DEMAND,
            )
        )
