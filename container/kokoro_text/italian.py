"""How Italian is read aloud."""

import regex
from num2words import num2words

from kokoro_text import european
from kokoro_text.european_language import Language, names
from kokoro_text.european_numbers import cardinal
from kokoro_text.reading import Rewriter

_FEMININE = regex.compile(r".*(?:[^m]a|[aiu]ma|[zs]ione|tà|tù|trice|udine|igine)")
_FEMININE_WORDS = names(
    "notte classe mano foto moto auto radio chiave carne parte gente rete legge luce voce nave "
    "torre croce madre moglie felce neve pelle sede serie specie fase base frase crisi tesi "
    "analisi dose voglia email mail app gomma firma fiamma somma mamma forma piattaforma "
    "riforma camera stanza ora ore pagina pag pagg noce estate fine carie opzione"
)
_MASCULINE_WORDS = names(
    "problema tema sistema programma poeta pianeta clima diploma dramma schema stemma trauma "
    "atleta grammo pigiama cinema collega telegramma"
)
_UNO_BEFORE = regex.compile(r"(?:s[^aeiouàèéìòù]|z|gn|ps|pn|x|y)\p{L}*", regex.IGNORECASE)


def _gender(noun: str) -> str:
    if noun in _FEMININE_WORDS:
        return "f"
    return "f" if noun not in _MASCULINE_WORDS and _FEMININE.fullmatch(noun) else "m"


def _tidy(words: str) -> str:
    # num2words contracts the wrong vowels in 118.
    return words.replace("dicotto", "diciotto")


def _agree(words: str, noun: str) -> str:
    if words != "uno":
        return words
    if _gender(noun) == "f":
        # One o'clock is `l'una`.
        return "un'" if noun[0] in "aeiouàèéìòù" and noun != "ore" else "una"
    return "uno" if _UNO_BEFORE.fullmatch(noun) else "un"


def _ordinal(number: int, gender: str, noun: str) -> str:
    if number == 0 or number > 10**6:
        return cardinal(LANGUAGE, number)
    words: str = num2words(number, lang="it", to="ordinal")
    return f"{words[:-1]}a" if gender == "f" else words


def _per(noun: str) -> str:
    if noun[0] in "aeiou":
        return f"all'{noun}"
    return f"{'alla' if _gender(noun) == 'f' else 'al'} {noun}"


def _clock(hour: str, minute: str, number: int) -> str:
    return f"{hour} e {minute}" if number else hour


LANGUAGE = Language(
    locale="it",
    comma="virgola",
    point="punto",
    minus="meno",
    percent="per cento",
    per_mille="per mille",
    per=_per,
    range="a",
    range_start="da",
    over="su",
    and_a="e",
    and_half={"m": "e mezzo", "f": "e mezza"},
    number_sign="numero",
    tidy=_tidy,
    agree=_agree,
    gender=_gender,
    not_nouns=names(
        "di del della dei degli delle dell all dall nell sull l dal dalla dai dalle al alla ai "
        "alle nel nella nei nelle sul sulla sui sulle e ed o a ad in con per da tra fra che il la "
        "lo i gli le un una si è sono su non ma più meno poi fino era ha hanno circa ogni prima "
        "dopo"
    ),
    plural_ends="aeio",
    labels=names(
        "pagina pagine pag capitolo cap articolo art numero n sala porta via camera linea livello "
        "lezione anno anni versione tomo volume canale binario piano autobus volo taglia strada "
        "gruppo opzione passo fase codice interno"
    ),
    partitive=r"su|delle|dei|degli|di queste|di questi",
    ordinal=_ordinal,
    ordinal_marks={"m": r"\.[º°]", "f": r"ª"},
    half={"m": "mezzo", "f": "mezza"},
    fractions={3: ("terzo", "terzi"), 4: ("quarto", "quarti")},
    plural=lambda words: f"{words[:-1]}i",
    of=lambda noun: f"di {noun}",
    scales={
        "M": ("milione", "milioni"),
        "mln": ("milione", "milioni"),
        "Mln": ("milione", "milioni"),
        "mld": ("miliardo", "miliardi"),
        "Mld": ("miliardo", "miliardi"),
        "mrd": ("miliardo", "miliardi"),
        "milione": ("milione", "milioni"),
        "milioni": ("milione", "milioni"),
        "miliardi": ("miliardo", "miliardi"),
        "k": ("mila", "mila"),
        "K": ("mila", "mila"),
    },
    bare_currencies={"CHF": ("franco svizzero", "franchi svizzeri")},
    cents={
        "": ("centesimo", "centesimi"),
        "GBP": ("penny", "pence"),
        "MXN": ("centavo", "centavos"),
        "BRL": ("centavo", "centavos"),
    },
    amount=lambda whole, minor, noun: f"{whole} e {minor}",
    unit_names={
        "dB": ("decibel", "decibel"),
        "bpm": ("battito al minuto", "battiti al minuto"),
        "rpm": ("giro al minuto", "giri al minuto"),
        "Mbps": ("megabit al secondo", "megabit al secondo"),
        "Gbps": ("gigabit al secondo", "gigabit al secondo"),
        "mass-kilogram": ("chilo", "chili"),
        "temperature-celsius": ("grado", "gradi"),
        "angle-degree": ("grado", "gradi"),
        "mass-tonne": ("tonnellata", "tonnellate"),
    },
    units={
        "gg": "duration-day",
        "mq": "area-square-meter",
        "mc": "volume-cubic-meter",
        "sec": "duration-second",
    },
    clock=_clock,
    hours="ore",
    time_context=r"(?:alle|dalle|ore|le|h|per le|verso le|entro le)(?: ore)? |all'|dall'|l'",
    day_parts=("di mattina", "del pomeriggio", "di sera"),
    date_joins=(" ", " "),
    first="primo",
    date_context=r"il|dal|al|del|entro|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica",
    months={"sett": 9, "genn": 1, "febbr": 2},
    phone_parts=r"(?:(?:\+|00)(39))?(3\d\d)(\d{3})(\d{4})",
    phone=r"(?:3\d\d|80\d) \d{3} \d{3}",
    codes=r"(?<![\p{L}\d.,])\+?(?:39 )?0\d{1,3}[ /-]\d{5,8}(?!\d)|(?<!\d)3\d\d[ /-]?\d{6,7}(?!\d)",
    address_signs={
        "@": "chiocciola",
        "#": "hashtag",
        ".": "punto",
        "-": "trattino",
        "_": "trattino basso",
        "/": "barra",
        "+": "più",
        ":": "due punti",
        "?": "punto interrogativo",
        "=": "uguale",
        "&": "e",
        "%": "per cento",
    },
    spelled=names("IA UE USA TV ID IP TG PC CD CV API"),
    syllables=(
        r"(?:(?:[bcfgpv][rl]|[dt]r|ch|gh|gn|qu|s[bcdfglmnpqrtv]r?|ps|[b-df-hj-np-tv-z])?[aeiouàèéìòù]{1,2}"
        r"(?:[lmnrsdztcp](?![aeiouàèéìòù]))?){1,6}"
    ),
    regnal=names(
        "Giovanni Paolo Benedetto Pio Leone Gregorio Clemente Innocenzo Vittorio Emanuele Umberto "
        "Carlo Enrico Filippo Luigi Elisabetta Federico Napoleone Francesco Giorgio Guglielmo "
        "Caterina Ramses Nicola Alessandro Urbano Bonifacio Giulio Sisto Alfonso Ferdinando "
        "Amedeo Edoardo Riccardo"
    ),
    regnal_cardinal=10**6,
    centuries="secolo|capitolo|atto|tomo|titolo|libro",
    roman_words="secolo|capitolo|tomo|volume|atto|parte|fase|tipo|livello|titolo|allegato|libro",
    signs={
        "×": "per",
        "x": "volte",
        "x=": "per",
        "*=": "per",
        "×=": "per",
        "-=": "meno",
        ":=": "diviso",
        "/=": "diviso",
        "+=": "più",
        "÷=": "diviso",
        "÷": "diviso",
        "=": "è uguale a",
        "<": "minore di",
        ">": "maggiore di",
        "≤": "minore o uguale a",
        "≥": "maggiore o uguale a",
        "±": "più o meno",
        "≈": "circa",
        "&": "e",
        "+": "più",
        "√": "radice di",
        "→": "",
        "^": "alla",
        "§": "paragrafo",
        "²": "al quadrato",
        "³": "al cubo",
    },
    abbreviations={
        r"[Ss]ig\.ra": "signora",
        r"[Ss]ig\.na": "signorina",
        r"[Ss]igg\.": "signori",
        r"[Ss]ig\.": "signor",
        r"[Dd]ott\.ssa|[Dd]r\.ssa": "dottoressa",
        r"[Dd]ott\.|[Dd]r\.": "dottor",
        r"[Pp]rof\.ssa": "professoressa",
        r"[Pp]rof\.": "professor",
        r"Ing\.": "ingegner",
        r"[Aa]vv\.": "avvocato",
        r"Arch\.": "architetto",
        r"Geom\.": "geometra",
        r"Rag\.": "ragionier",
        r"On\.(?= \p{Lu})": "onorevole",
        r"[Ee]gr\.": "egregio",
        r"[Gg]ent\.mo": "gentilissimo",
        r"[Gg]ent\.ma": "gentilissima",
        r"Spett\.(?:le)?": "spettabile",
        r"[Vv]\.le": "viale",
        r"[Pp]\.(?:zza|za)": "piazza",
        r"[Pp]\.le": "piazzale",
        r"[Ll]\.go": "largo",
        r"F\.lli": "fratelli",
        r"[Cc]\.so": "corso",
        r"[Vv]\.(?= \p{Lu})": "via",
        r"(?:[Nn]\.[°º]?|[Nn][°º]|[Nn]r\.|num\.) ?(?=\d|[A-Z]{1,4}-?\d)": "numero ",
        r"[Pp]agg\.|pp\.(?= \d)": "pagine",
        r"[Pp]ag\.|p\.(?= \d)": "pagina",
        r"[Cc]ap\.(?= \d)": "capitolo",
        r"[Aa]rt\.(?= \d)": "articolo",
        r"[Vv]ol\.(?= \d)": "volume",
        r"[Tt]el\.": "telefono",
        r"[Cc]ell\.": "cellulare",
        r"ecc\.?(?!\p{L})": "eccetera",
        r"etc\.": "eccetera",
        r"p\. ?es\.|ad es\.": "per esempio",
        r"a\. ?C\.": "avanti Cristo",
        r"d\. ?C\.": "dopo Cristo",
        r"ca\.(?= \d)": "circa",
        r"max\.?(?= \d)": "massimo",
        r"min\.?(?= \d)": "minimo",
        r"S\.(?= \p{Lu}\p{Ll})": "san",
        r"S\.p\.A\.|SpA(?!\p{L})": "esse pi a",
        r"S\.r\.l\.": "esse erre elle",
        r"vs\.?(?!\p{L})": "contro",
        r"e/o(?!\p{L})": "e o",
        r"(?<!\d )[Kk]m\.?(?= \d)": "chilometro",
        r"c\.a\.(?!\p{L})": "circa",
    },
)


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`."""
    european.apply(rewriter, LANGUAGE)
