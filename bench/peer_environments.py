"""Virtual environments for the peers' packages, kept in the user's cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench import ROOT
from kokoro_model import default_model_dir

CACHE = default_model_dir().parent / "bench"


def environment(name: str, requirements: list[str]) -> Path:
    """Return the Python of an environment with ``requirements``, creating it if it is missing.

    Raises:
        SystemExit: uv is missing.
        subprocess.CalledProcessError: uv cannot install the packages.
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
        raise SystemExit("uv: not found, neither as .uv/bin/uv nor on the PATH; run make setup-dev")
    print(f"{name}: installing {', '.join(requirements)}", file=sys.stderr)
    base = str(Path(sys.executable).resolve())
    for command in (
        [uv, "venv", "--quiet", "--clear", "--python", base, str(home)],
        [uv, "pip", "install", "--quiet", "--python", str(python), *requirements],
    ):
        subprocess.run(command, check=True)
    stamp.write_text(wanted)
    return python
