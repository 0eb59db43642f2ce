"""Spanish, French, Italian and Portuguese: the cases, and bugs that the cases do not cover."""

import random

import pytest

from kokoro_text.normalizer import read
from kokoro_voice.g2p import Pronouncer
from tests.said_right import is_said_right, load

LANGUAGES = ("es", "fr-fr", "it", "pt-br")
HARD = "0123456789.,:/-–+×x=%€$£R°ºª'()[] hmkgIVXLaeè@#²½ \N{GRINNING FACE}"


def said(text: str, language: str) -> str:
    return " ".join(reading.spoken for reading in read(text, language) if reading.spoken)


@pytest.mark.parametrize("language", LANGUAGES)
def test_cases_are_said_right(language: str) -> None:
    pronouncer = Pronouncer()

    wrong = [case.text for case in load(language) if not is_said_right(case, pronouncer.phonemes)]

    assert wrong == []


@pytest.mark.parametrize(
    ("language", "text", "spoken"),
    [
        # A capital letter and a small one are not an ordinal number.
        ("es", "Ver la Ley", "Ver la Ley"),
        ("fr-fr", "Le Vers", "Le Vers"),
        # `no` is not an abbreviation of `número`.
        ("es", "No 3 sino 4", "No tres sino cuatro"),
        ("pt-br", "no 3 andar", "no três andar"),
        # The gender of what a number counts.
        ("es", "200 mil personas", "doscientas mil personas"),
        ("es", "21 millones de personas", "veintiún millones de personas"),
        ("es", "En 2021 muchas empresas", "En dos mil veintiuno muchas empresas"),
        ("es", "1 o 2 horas", "una o dos horas"),
        ("pt-br", "22 milhões de pessoas", "vinte e dois milhões de pessoas"),
        ("pt-br", "2 mil mulheres", "duas mil mulheres"),
        ("pt-br", "1-2 semanas", "uma a duas semanas"),
        ("fr-fr", "1 personne sur 3", "une personne sur trois"),
        ("it", "1 zaino e 1 ora", "uno zaino e un' ora"),
        # num2words says `veintiuno mil` and `centodicotto`.
        ("es", "31.000 euros", "treinta y un mil euros"),
        ("it", "118", "centodiciotto"),
        # Only digits with the right grouping are one number.
        (
            "es",
            "192.168.1.10",
            "ciento noventa y dos punto ciento sesenta y ocho punto uno punto diez",
        ),
        ("es", "$1,250 pesos", "mil doscientos cincuenta pesos"),
        ("fr-fr", "12 345,67", "douze mille trois cent quarante-cinq virgule soixante-sept"),
        # Long numbers are read digit by digit.
        ("fr-fr", "0612345678", "zéro six, douze, trente-quatre, cinquante-six, soixante-dix-huit"),
        ("it", "9" * 5, "novantanovemilanovecentonovantanove"),
        ("es", "9" * 30, " ".join(["nueve"] * 30)),
        # An hour, a duration and a range of times.
        ("es", "1 h 30 min", "una hora treinta minutos"),
        ("es", "08:00-18:00", "ocho a dieciocho"),
        ("pt-br", "à 1h", "à uma hora"),
        # The first of the month after an article that is elided.
        ("it", "il 1 aprile", "il primo aprile"),
        ("it", "l'1 aprile", "l'uno aprile"),
        # Degrees or an ordinal number.
        ("es", "Hace 25º en Sevilla", "Hace veinticinco grados en Sevilla"),
        ("it", "al 3° piano", "al terzo piano"),
        # A score, a product and instalments.
        ("pt-br", "3 x 0", "três a zero"),
        ("pt-br", "3 x 4 = 12", "três vezes quatro é igual a doze"),
        ("pt-br", "em 12x sem juros", "em doze vezes sem juros"),
        # Capital letters are not always an acronym.
        ("es", "MUY IMPORTANTE", "MUY IMPORTANTE"),
        ("fr-fr", "AVANT MIDI", "AVANT MIDI"),
        # Weekdays are abbreviated with a point before a day, and in ranges.
        ("es", "Lun-Vie", "lunes a viernes"),
        ("it", "Il mar 3 e il sole", "Il mar tre e il sole"),
        # A unit after another one.
        ("it", "15 €/h", "quindici euro all'ora"),
        ("fr-fr", "1,2 g/l", "un virgule deux gramme par litre"),
        # Smileys are not said.
        ("it", "ciao \N{GRINNING FACE}", "ciao"),
    ],
)
def test_reading(language: str, text: str, spoken: str) -> None:
    assert said(text, language) == spoken


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_text_is_read_and_keeps_its_words(language: str) -> None:
    generator = random.Random(0)
    for _ in range(1500):
        text = "".join(generator.choices(HARD, k=generator.randint(1, 40)))

        written = " ".join(reading.written for reading in read(text, language))

        assert written.split() == text.split()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["1" * 5000, "1.000" * 1000, "1 " * 2500, "a." * 2500, "-1/" * 2000]
)
def test_long_text_is_read(language: str, text: str) -> None:
    assert read(text, language)
