"""The turns of speaking sessions: what a voice agent says, at what pace, and the silence between.

With the same seed, the simulation and the real server get the same turns.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

SENTENCES_PER_REPLY = (2, 5)
SILENCE_S = (2.0, 8.0)
"""The time from the end of one reply to the first sentence of the next, while the caller thinks and
speaks and the language model begins to write."""
TOKENS_PER_S = 50.0
TOKENS_PER_WORD = 1.35

# Each has 5 to 25 words.
POOL = (
    "Let me check that for you.",
    "Your table is booked for eight.",
    "I am sorry to hear that.",
    "That depends on the weather tomorrow.",
    "The store closes at nine tonight.",
    "You can change that at any time.",
    "It should arrive by Thursday afternoon at the latest.",
    "I found three flights that leave before noon on Monday.",
    "The second one is a little cheaper, but it stops in Denver.",
    "Would you like me to send the details to your phone?",
    "Most people water it twice a week and keep it near a window.",
    "Turn left at the old church and walk down to the river.",
    "The museum is free on Sundays, though it tends to be crowded after lunch.",
    "Your balance is two hundred and forty dollars, and the next payment is due in May.",
    "There was a short power cut in your street, but everything should be running again now.",
    "Heat the oil slowly, add the onions, and stir them until they are soft and golden.",
    "I have moved the meeting to ten o'clock and told everyone who was invited to it.",
    "The harbor was built two hundred years ago, when most of the trade still came by sea.",
    "If the light on the front keeps blinking, hold the button down for five seconds and let "
    "it go again.",
    "You could take the early train, which is faster, or the bus, which stops right in front "
    "of the hotel.",
    "The doctor has an opening on Wednesday morning, and another one late on Friday if that "
    "suits you better than the first.",
    "Rain is likely in the north until the evening, while the south stays mostly dry with a "
    "light wind from the sea.",
    "The warranty covers the battery for two years, so you will not have to pay for the "
    "repair if you still have the receipt.",
    "They walked along the beach for an hour and talked about the house where their "
    "grandmother had lived before she moved to the city.",
)


@dataclass(frozen=True)
class Turn:
    """One reply and the silence before it."""

    silence_s: float
    sentences: tuple[str, ...]
    offsets_s: tuple[float, ...]
    """When each sentence is complete, in seconds after the first, at the language model's pace."""


def turns(seed: int, session: int) -> Iterator[Turn]:
    """Yield the turns of one session, without end."""
    chance = random.Random(f"{seed} {session}")
    while True:
        sentences = tuple(chance.choices(POOL, k=chance.randint(*SENTENCES_PER_REPLY)))
        offsets_s = [0.0]
        for sentence in sentences[1:]:
            tokens = TOKENS_PER_WORD * len(sentence.split())
            offsets_s.append(offsets_s[-1] + tokens / TOKENS_PER_S)
        yield Turn(chance.uniform(*SILENCE_S), sentences, tuple(offsets_s))
