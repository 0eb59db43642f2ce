"""An environment's settings: `environments/<name>.toml` as one frozen, strict model."""

from stacks.settings.agent import Agent, Jwt
from stacks.settings.alarms import Alarms, Budget
from stacks.settings.environment import ENVIRONMENTS, Settings, SettingsError, load
from stacks.settings.image import Image
from stacks.settings.network import Network
from stacks.settings.speech import Instances, Schedule, Speech

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
