"""The settings of an environment: `environments/<name>.toml` as one frozen, strict model."""

from stacks.settings.environment import Settings, SettingsError, environment_names, load

__all__ = ["Settings", "SettingsError", "environment_names", "load"]
