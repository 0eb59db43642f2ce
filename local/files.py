"""Writes the files that a command was asked for."""

import os
from pathlib import Path


def write(path: Path, content: bytes, *, secret: bool = False) -> None:
    """Write a file.

    Args:
        path: The file; its content is replaced.
        content: What to write.
        secret: Whether only its owner may read it.

    Raises:
        OSError: It cannot be written; the error names the file, which that of a full disk
            otherwise does not.
    """
    try:
        if secret:
            path.touch(mode=0o600)
            path.chmod(0o600)
        path.write_bytes(content)
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from error
