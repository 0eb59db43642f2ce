"""The exception of this package."""


class ModelBuildError(Exception):
    """The model cannot be built. The message names the file, the reason and the remedy."""
