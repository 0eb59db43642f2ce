"""What a command writes."""

from pathlib import Path

import pytest

from local.files import write


def test_a_full_disk_is_named() -> None:
    """'No space left on device' sends nobody to the right disk."""
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write(Path("/dev/full"), b"speech")


def test_a_secret_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    """The file of an earlier run may be there already, readable by everybody."""
    path = tmp_path / "addresses.json"
    path.touch(mode=0o644)
    write(path, b"{}", secret=True)
    assert path.stat().st_mode & 0o777 == 0o600
