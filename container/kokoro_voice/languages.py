"""The languages of the model. A voice's name starts with its language and sex: `af_heart`."""

LANGUAGES = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-br",
    "z": "cmn",
}
"""Maps the first letter of a voice's name to its language, in espeak's notation."""
