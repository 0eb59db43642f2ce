"""How Spanish is read aloud."""

import regex

from kokoro_text import european
from kokoro_text.european_language import Language, names
from kokoro_text.european_numbers import cardinal
from kokoro_text.reading import Rewriter

_FEMININE = regex.compile(
    r".*(?:[cs]i[óo]n(?:es)?|[dt]ad(?:es)?|tud(?:es)?|umbres?"
    r"|(?<!blem|stem|gram)as?)"
)
_FEMININE_WORDS = names(
    "vez veces noche noches tarde tardes clase clases calle calles parte partes llave llaves mujer "
    "mujeres flor flores mano manos foto fotos moto motos ley leyes red redes luz luces voz voces "
    "fuente fuentes serie series base bases frase frases clave claves sede sedes nube nubes nave "
    "naves torre torres señal señales sal piel pieles imagen imágenes orden órdenes radio radios "
    "madre madres pág págs hora horas leche carne pared paredes cruz cruces raíz raíces sartén "
    "suite suites gente app apps web webs pyme pymes tesis crisis dosis"
)
_MASCULINE_WORDS = names(
    "día días mapa mapas problema problemas tema temas sistema sistemas programa programas "
    "idioma idiomas planeta planetas poema poemas clima climas diagrama diagramas gas gases más "
    "gramos kilogramas"
)
_UNITS = (
    *("", "primero", "segundo", "tercero", "cuarto", "quinto"),
    *("sexto", "séptimo", "octavo", "noveno"),
)
_TENS = (
    *("", "décimo", "vigésimo", "trigésimo", "cuadragésimo", "quincuagésimo"),
    *("sexagésimo", "septuagésimo", "octogésimo", "nonagésimo"),
)
_HUNDREDS = (
    *("", "centésimo", "ducentésimo", "tricentésimo", "cuadringentésimo", "quingentésimo"),
    *("sexcentésimo", "septingentésimo", "octingentésimo", "noningentésimo"),
)
_TEENS = {11: "undécimo", 12: "duodécimo", **{10 + n: f"decimo{_UNITS[n]}" for n in range(3, 10)}}


def _tidy(words: str) -> str:
    words = regex.sub(r"veintiuno(?= (?:mil|bill|trill))", "veintiún", words)
    tidy: str = regex.sub(r"\buno(?= (?:mil|bill|trill))", "un", words)
    return tidy


def _gender(noun: str) -> str:
    if noun in _FEMININE_WORDS:
        return "f"
    return "f" if noun not in _MASCULINE_WORDS and _FEMININE.fullmatch(noun) else "m"


def _agree(words: str, noun: str) -> str:
    if _gender(noun) == "m":
        words = regex.sub(r"veintiuno$", "veintiún", words)
        shortened: str = regex.sub(r"\buno$", "un", words)
        return shortened
    millions, _, rest = words.rpartition("ones ")
    rest = regex.sub(r"(?<=cient|quinient)os", "as", rest)
    rest = regex.sub(r"uno$", "una", rest)
    return f"{millions}ones {rest}" if millions else rest


_SIDES = {"izquierda", "derecha", "izq", "dcha", "centro", "interior", "exterior", "puerta"}
"""What follows the floor in an address: `3.º izquierda` is said tercero izquierda."""


def _ordinal(number: int, gender: str, noun: str) -> str:
    if not 0 < number < 1000:
        return "milésimo" if number == 1000 else cardinal(LANGUAGE, number)
    hundreds, below = divmod(number, 100)
    words = [_HUNDREDS[hundreds]]
    words += [_TEENS[below]] if below in _TEENS else [_TENS[below // 10], _UNITS[below % 10]]
    said = " ".join(filter(None, words))
    if gender == "f":
        said = regex.sub(r"o\b", "a", said)
    elif gender == "er" or (noun and noun.lower() not in _SIDES):
        said = regex.sub(r"(?<=primer|tercer)o$", "", said)
    return said


def _clock(hour: str, minute: str, number: int) -> str:
    if number == 0:
        return hour
    return f"{hour} y {minute}" if number < 10 else f"{hour} {minute}"


LANGUAGE = Language(
    locale="es",
    comma="coma",
    point="punto",
    minus="menos",
    percent="por ciento",
    per_mille="por mil",
    per=lambda noun: f"por {noun}",
    range="a",
    over="sobre",
    and_a="y",
    and_half={"m": "y medio", "f": "y media"},
    number_sign="número",
    tidy=_tidy,
    agree=_agree,
    gender=_gender,
    not_nouns=names(
        "de del y e o u a al en con por para que el la los las se es son hasta desde sobre ni no "
        "como si pero más menos antes después entre tras sin ya fue era está están hay vs mas "
        "además apenas"
    ),
    labels=names(
        "página pág capítulo cap artículo art número núm sala puerta calle habitación línea nivel "
        "tema lección año años versión tomo volumen vol canal andén vía piso día "
        "aula unidad apartado mesa bus vuelo talla carretera ruta grupo opción paso "
        "fase planta avenida código"
    ),
    before_years=names("en de desde hasta del"),
    partitive=r"de cada|de las|de los|de ellas|de ellos",
    ordinal=_ordinal,
    ordinal_marks={
        "m": r"\.[º°]|\.?os?(?= \p{Ll})|ro|do|to|vo|mo",
        "f": r"\.?(?:ª|as?)|ra|da|ta|va|ma",
        "er": r"\.?(?:er|ᵉʳ)",
    },
    half={"m": "medio", "f": "media"},
    fractions={3: ("tercio", "tercios"), 4: ("cuarto", "cuartos")},
    plural=lambda words: f"{words}s",
    of=lambda noun: f"de {noun}",
    scales={
        "M": ("millón", "millones"),
        "mill": ("millón", "millones"),
        "millones": ("millones", "millones"),
        "millón": ("millón", "millones"),
        "MM": ("millón", "millones"),
        "mdd": ("millón de dólares", "millones de dólares"),
        "mil": ("mil", "mil"),
        "k": ("mil", "mil"),
        "K": ("mil", "mil"),
        "billones": ("billones", "billones"),
    },
    bare_currencies={"MXN": ("peso mexicano", "pesos mexicanos")},
    cents={
        "": ("centavo", "centavos"),
        "EUR": ("céntimo", "céntimos"),
        "GBP": ("penique", "peniques"),
        "PEN": ("céntimo", "céntimos"),
    },
    amount=lambda whole, minor, noun: f"{whole} con {minor} {noun}",
    unit_names={
        "dB": ("decibelio", "decibelios"),
        "bpm": ("latido por minuto", "latidos por minuto"),
        "rpm": ("revolución por minuto", "revoluciones por minuto"),
        "Mbps": ("megabit por segundo", "megabits por segundo"),
        "Gbps": ("gigabit por segundo", "gigabits por segundo"),
        "mass-kilogram": ("kilo", "kilos"),
        "temperature-celsius": ("grado", "grados"),
        "angle-degree": ("grado", "grados"),
        "digital-kilobyte": ("kilobyte", "kilobytes"),
    },
    clock=_clock,
    hours="horas",
    time_context=r"(?:a|de|desde|hasta|sobre) las? ",
    day_parts=("de la mañana", "de la tarde", "de la noche"),
    date_joins=(" de ", " de "),
    first=None,
    date_context="el|del|al|día|desde|hasta|fecha|para|lunes|martes|miércoles|jueves|viernes",
    months={"set": 9, "sep": 9, "setiembre": 9},
    phone_parts=r"(?:(?:\+|00)(34))?([6-9]\d\d)(\d{3})(\d{3})",
    phone=r"[6-9]\d\d \d{3} \d{3}",
    address_signs={
        "@": "arroba",
        "#": "almohadilla",
        ".": "punto",
        "-": "guion",
        "_": "guion bajo",
        "/": "barra",
        "+": "más",
        ":": "dos puntos",
        "?": "interrogación",
        "=": "igual",
        "&": "y",
        "%": "por ciento",
    },
    letters={"Y": "i griega", "W": "uve doble"},
    spelled=names("IA UE ID IP TV"),
    syllables=(
        r"(?:(?:[bcfgp][rl]|[dt]r|ch|ll|qu|[b-df-hj-np-tv-zñ])?[aeiouyáéíóú]{1,2}"
        r"(?:[lmnrsdzxtcpb](?![aeiouáéíóú]))?){1,6}"
    ),
    regnal=names(
        "Felipe Alfonso Carlos Isabel Fernando Juan Pablo Luis Enrique Jorge Jaime Pedro Sancho "
        "Benedicto Pío León Gregorio Clemente Inocencio Francisco Guillermo Catalina Napoleón "
        "Ramsés Nicolás Alejandro Federico Urbano"
    ),
    regnal_cardinal=10,
    centuries="siglos?",
    roman_words="siglos?|capítulo|tomo|volumen|acto|parte|fase|tipo|grado|nivel|título|anexo",
    signs={
        "×": "por",
        "x": "veces",
        "x=": "por",
        "*=": "por",
        "-=": "menos",
        ":=": "entre",
        "/=": "entre",
        "+=": "más",
        "×=": "por",
        "÷=": "entre",
        "÷": "entre",
        "=": "es igual a",
        "<": "menor que",
        ">": "mayor que",
        "≤": "menor o igual que",
        "≥": "mayor o igual que",
        "±": "más menos",
        "≈": "aproximadamente",
        "&": "y",
        "+": "más",
        "√": "raíz de",
        "→": "",
        "^": "elevado a",
        "§": "apartado",
        "²": "al cuadrado",
        "³": "al cubo",
    },
    abbreviations={
        r"OK(?!\p{L})": "okey",
        r"EE\. ?UU\.?|EEUU(?!\p{L})": "Estados Unidos",
        r"[Ss]ra\.": "señora",
        r"[Ss]ras\.": "señoras",
        r"[Ss]rta\.": "señorita",
        r"[Ss]r\.": "señor",
        r"[Ss]res\.": "señores",
        r"[Dd]ra\.": "doctora",
        r"[Dd]r\.": "doctor",
        r"Dres\.": "doctores",
        r"D\.(?= \p{Lu}\p{Ll})": "don",
        r"D\.ª": "doña",
        r"Prof\.": "profesor",
        r"Profa\.": "profesora",
        r"Ing\.": "ingeniero",
        r"Lic\.": "licenciado",
        r"Arq\.": "arquitecto",
        r"Ud\.|Vd\.": "usted",
        r"Uds\.|Vds\.": "ustedes",
        r"[Aa]vda?\.|Av\.": "avenida",
        r"[Cc]/(?= ?\p{Lu})": "calle ",
        r"Pza\.|Plza\.|Pl\.(?= \p{L})": "plaza",
        r"[Nn]\.?[º°]\.?(?= ?\d| (?:\p{Lu}|de ))|[Nn]úm\.|[Nn]ro\.|No\.(?= \d)": "número",
        r"[Nn]\.ᵒˢ|[Nn]úms\.": "números",
        r"dcha\.?(?!\p{L})": "derecha",
        r"izda?\.|izqda?\.": "izquierda",
        r"[Pp]ágs\.|pp\.(?= \d)": "páginas",
        r"[Pp]ág\.|p\.(?= \d)": "página",
        r"[Cc]ap\.(?= \d)": "capítulo",
        r"[Aa]rt\.(?= \d)": "artículo",
        r"[Vv]ol\.(?= \d)": "volumen",
        r"[Tt]el\.|[Tt]fno\.|[Tt]lf\.": "teléfono",
        r"etc\.": "etcétera",
        r"p\. ?ej\.": "por ejemplo",
        r"a\. ?C\.": "antes de Cristo",
        r"d\. ?C\.": "después de Cristo",
        r"aprox\.": "aproximadamente",
        r"máx\.": "máximo",
        r"mín\.": "mínimo",
        r"dpto\.|depto\.": "departamento",
        r"[Ss]ta\.(?= \p{Lu})": "santa",
        r"[Ss]to\.(?= \p{Lu})": "santo",
        r"S\. ?A\.(?!\p{L})": "ese a",
        r"S\. ?L\.(?!\p{L})": "ese ele",
        r"vs\.?(?!\p{L})": "versus",
        r"y/o(?!\p{L})": "y o",
        r"[Cc]ía\.": "compañía",
        r"[Gg]ral\.": "general",
        r"(?<!\d )[Kk]m\.?(?= \d)": "kilómetro",
        r"c/u(?!\p{L})": "cada uno",
    },
)


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`."""
    european.apply(rewriter, LANGUAGE)
