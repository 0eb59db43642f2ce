"""The error that ends a build of the model."""


class ModelBuildError(Exception):
    """The model cannot be built. The message names the file, the reason and the remedy."""
