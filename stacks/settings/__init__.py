"""An environment's settings: `environments/<name>.toml` as one frozen, strict model."""

from stacks.settings.environment import (
    ENVIRONMENTS,
    Agent,
    Alarms,
    Budget,
    Jwt,
    Network,
    Settings,
    SettingsError,
    load,
)
from stacks.settings.speech import Image, Instances, Schedule, Speech

__all__ = [
    "ENVIRONMENTS",
    "Agent",
    "Alarms",
    "Budget",
    "Image",
    "Instances",
    "Jwt",
    "Network",
    "Schedule",
    "Settings",
    "SettingsError",
    "Speech",
    "load",
]
