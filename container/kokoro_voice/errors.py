"""The exceptions of this package."""


class VoiceError(Exception):
    """Base of all of them."""


class UnknownVoiceError(VoiceError):
    """There is no such voice, or its language is not served; the message lists the voices."""


class InvalidMixError(VoiceError):
    """The mix has too many components, a weight out of range, or two languages."""


class ModelError(VoiceError):
    """The model cannot be loaded: a file is not what it should be, or there is no GPU to use."""


class WorkCancelled(VoiceError):
    """The work was cancelled from another thread."""
