"""The Kokoro-82M weights: fetched, verified, converted and self-tested by one command.

``python -m model --out DIR`` (run in ``container/``) is the only door; `manifest.toml` says where
every byte comes from. Nothing here is needed, or installed, when the server runs.
"""

from model.manifest import default_model_dir

__all__ = ["default_model_dir"]
