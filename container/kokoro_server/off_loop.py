"""Work that depends on the length of a text, away from the event loop if the text is long."""

import asyncio
from collections.abc import Callable, Sized

LONG_TEXT = 2000
"""From this length on, a text is read in a thread, so that the loop goes on with the audio of other
listeners. Below it, reading takes less than 10 ms, and a thread would only add a delay."""


async def read_text[Result](text: Sized, read: Callable[[], Result]) -> Result:
    """Return what `read` returns. It is called in a thread if `text` is long.

    Args:
        text: The text, or the bytes, that `read` reads.
        read: Takes a time that is proportional to the length of `text`.

    Raises:
        Exception: Any exception that `read` raises.
    """
    if len(text) < LONG_TEXT:
        return read()
    return await asyncio.to_thread(read)
