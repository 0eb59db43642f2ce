"""The one exception of this package."""


class ModelBuildError(Exception):
    """The model cannot be built. The message says which file, why, and what to do."""
