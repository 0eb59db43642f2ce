"""The languages of the model. Kokoro names a voice by language, sex and name: `af_heart`."""

LANGUAGES = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "p": "pt-br",
}
"""The first letter of a voice's name to its language, as espeak names it."""

UNSERVED_LANGUAGES = {"j": "Japanese", "z": "Mandarin"}
"""The first letter to the language that the model speaks and the pronunciation does not know."""
