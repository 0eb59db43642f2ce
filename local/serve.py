"""`python -m local serve` and `container`: processes that run until Ctrl-C."""

import asyncio
import os
import sys
from argparse import Namespace

from local.bedrock.reply_sources import ReplySource
from local.command_line import agent_environment
from local.files import write
from local.progress import show
from local.supervisor import ROOT, Supervisor, check_port, model_dir


async def serve(options: Namespace, source: ReplySource) -> int:
    """Start everything and keep it running; it ends by being cancelled."""
    supervisor = Supervisor(
        show,
        source=source,
        restart=True,
        page=options.page,
        first_port=options.port,
        agent_environment=agent_environment(options),
    )
    async with supervisor:
        addresses = supervisor.addresses
        if options.json:
            content = addresses.model_dump_json(indent=2).encode() + b"\n"
            write(options.json, content, secret=True)
        print(f"\n{source.description}")
        if options.page:
            print(f"\n    Open {supervisor.page_url} in a browser and talk.\n")
        else:
            print()
            for name, value in addresses:
                if name != "secret_access_key":
                    print(f"{name:18} {value}")
            print("\nServing. ", end="")
        if options.json:
            print(f"All addresses and the credentials are in {options.json}. ", end="")
        print("Press Ctrl-C to stop.", flush=True)
        await asyncio.Event().wait()
    return 0


async def serve_container(options: Namespace) -> int:
    """Replace this process with the speech server, listening on loopback.

    Settings in `KOKORO_*` variables apply.

    Raises:
        ProcessError: The port is in use, or the model cannot be fetched.
    """
    check_port(options.port)
    environment = os.environ | {"KOKORO_MODEL_DIR": await model_dir(show)}
    show(
        "Starting the speech server. It is ready when it logs `ready`; press Ctrl-C to stop.\n"
        f"Then, for example: curl http://127.0.0.1:{options.port or 'PORT'}/invocations "
        '--json \'{"text": "Good morning."}\' -o speech.wav'
    )
    os.chdir(ROOT / "container")
    command = ["-m", "kokoro_server", "serve", "--host", "127.0.0.1", "--port", str(options.port)]
    os.execve(sys.executable, [sys.executable, *command], environment)
