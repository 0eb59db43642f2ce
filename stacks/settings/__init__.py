"""The settings of an environment: `environments/<name>.toml` as one frozen, strict model."""

from stacks.settings.environment import ENVIRONMENTS, Settings, SettingsError, load

__all__ = ["ENVIRONMENTS", "Settings", "SettingsError", "load"]
