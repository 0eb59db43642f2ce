"""Peers' packages, each set in an environment of its own, kept in the user's cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from kokoro_model import default_model_dir

ROOT = Path(__file__).parent.parent
CACHE = default_model_dir().parent / "bench"


def environment(name: str, requirements: list[str]) -> Path:
    """Return the Python of an environment with ``requirements``, made when it is missing.

    Raises:
        SystemExit: uv is missing, or the packages cannot be had.
    """
    home = CACHE / name
    python = home / "bin" / "python"
    stamp = home / "requirements.txt"
    wanted = "\n".join(requirements)
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    search = f"{ROOT / '.uv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    uv = shutil.which("uv", path=search)
    if uv is None:
        raise SystemExit("uv: found neither as .uv/bin/uv nor on the PATH")
    print(f"{name}: installing {', '.join(requirements)}", file=sys.stderr)
    base = str(Path(sys.executable).resolve())
    for command in (
        [uv, "venv", "--quiet", "--clear", "--python", base, str(home)],
        [uv, "pip", "install", "--quiet", "--python", str(python), *requirements],
    ):
        subprocess.run(command, check=True)
    stamp.write_text(wanted)
    return python
