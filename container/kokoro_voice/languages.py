"""The languages of the model. A voice's name starts with its language and sex: `af_heart`."""

LANGUAGES = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "p": "pt-br",
}
"""Maps the first letter of a voice's name to its language, in espeak's notation."""

UNSERVED_LANGUAGES = {"j": "Japanese", "z": "Mandarin"}
"""Maps the first letter to languages that the model speaks and the G2P here does not support."""
