"""The errors that the speech library raises."""


class VoiceError(Exception):
    """Base class of this package's exceptions."""


class UnknownVoiceError(VoiceError):
    """The voice does not exist, or its language is not served. The message lists the voices."""


class InvalidMixError(VoiceError):
    """A mix has too many components, a weight out of range, or more than one language."""


class ModelError(VoiceError):
    """The model cannot be loaded: a file is missing or invalid, or there is no usable GPU."""


class VoiceFileError(VoiceError):
    """A file is not a voice. The message names it and says what is accepted."""


class WorkCancelled(VoiceError):
    """The work was cancelled from another thread."""
