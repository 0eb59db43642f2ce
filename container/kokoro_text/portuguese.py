"""How Brazilian Portuguese is read aloud."""

import regex
from num2words import num2words

from kokoro_text import european
from kokoro_text.european_language import Language, names
from kokoro_text.european_numbers import cardinal
from kokoro_text.reading import Rewriter

_FEMININE = regex.compile(
    r".*(?:ção|ções|são|sões|gem|gens|dade|dades|tude|tudes|(?<!blem|stem|gram)as?)"
)
_FEMININE_WORDS = names(
    "vez vezes noite noites tarde tardes classe classes parte partes chave chaves mulher mulheres "
    "flor flores mão mãos foto fotos moto motos lei leis rede redes luz luzes voz vozes fonte "
    "fontes série séries base bases frase frases sede sedes nuvem nave naves torre torres pele "
    "mãe mães carne cor cores dor dores irmã irmãs manhã manhãs maçã maçãs fase fases viagem "
    "ordem ordens suíte suítes gente equipe equipes colher colheres pág págs crise "
    "crises análise análises tese teses"
)
_MASCULINE_WORDS = names(
    "dia dias mapa mapas problema problemas tema temas sistema sistemas programa programas "
    "idioma idiomas planeta planetas poema poemas clima climas diagrama gás mais mas quilograma "
    "quilogramas grama gramas miligrama miligramas micrograma microgramas telefonema "
    "telefonemas cinema cinemas"
)


def _tidy(words: str) -> str:
    return words.replace(",", "").replace("catorze", "quatorze")


def _gender(noun: str) -> str:
    if noun in _FEMININE_WORDS:
        return "f"
    return "f" if noun not in _MASCULINE_WORDS and _FEMININE.fullmatch(noun) else "m"


def _agree(words: str, noun: str) -> str:
    if _gender(noun) != "f":
        return words
    millions, _, rest = words.rpartition("lhões ")
    rest = regex.sub(r"(?<=[dz]ent|nhent)os", "as", rest)
    rest = regex.sub(r"\bum$", "uma", rest)
    rest = regex.sub(r"\bdois(?= mil\b|$)", "duas", rest)
    return f"{millions}lhões {rest}" if millions else rest


def _ordinal(number: int, gender: str, noun: str) -> str:
    if number == 0 or number > 10**6:
        return cardinal(LANGUAGE, number)
    words: str = num2words(number, lang="pt_BR", to="ordinal")
    if gender == "f":
        words = regex.sub(r"o\b", "a", words)
    return words


def _clock(hour: str, minute: str, number: int) -> str:
    return f"{hour} e {minute}" if number else f"{hour} {'hora' if hour == 'uma' else 'horas'}"


LANGUAGE = Language(
    locale="pt_BR",
    comma="vírgula",
    point="ponto",
    minus="menos",
    percent="por cento",
    per_mille="por mil",
    per=lambda noun: f"por {noun}",
    range="a",
    over="de",
    and_a="e",
    and_half={"m": "e meio", "f": "e meia"},
    number_sign="número",
    tidy=_tidy,
    agree=_agree,
    gender=_gender,
    not_nouns=names(
        "de do da dos das e ou a ao aos à às em no na nos nas com por para que o as os se é são "
        "até desde sobre nem não como mas mais menos antes depois entre sem já foi era está estão "
        "há pelas pelos pela pelo duas"
    ),
    labels=names(
        "página pág capítulo cap artigo art número nº sala porta rua quarto linha nível tema aula "
        "lição ano anos versão tomo volume vol canal plataforma andar dia unidade "
        "apartamento apto mesa ônibus voo tamanho rodovia rota grupo opção passo fase avenida "
        "código questão"
    ),
    before_years=names("em de desde até"),
    partitive=r"em cada|de cada|das|dos|delas|deles",
    ordinal=_ordinal,
    ordinal_marks={
        "m": r"\.[º°]|\.?os?(?= \p{Ll})",
        "f": r"\.?(?:ª|as?(?= \p{Ll}))",
    },
    half={"m": "meio", "f": "meia"},
    fractions={3: ("terço", "terços"), 4: ("quarto", "quartos")},
    plural=lambda words: f"{words}s",
    of=lambda noun: f"de {noun}",
    scales={
        "M": ("milhão", "milhões"),
        "mi": ("milhão", "milhões"),
        "milhão": ("milhão", "milhões"),
        "milhões": ("milhão", "milhões"),
        "bi": ("bilhão", "bilhões"),
        "bilhão": ("bilhão", "bilhões"),
        "bilhões": ("bilhão", "bilhões"),
        "tri": ("trilhão", "trilhões"),
        "trilhões": ("trilhão", "trilhões"),
        "mil": ("mil", "mil"),
        "k": ("mil", "mil"),
        "K": ("mil", "mil"),
    },
    cents={"": ("centavo", "centavos"), "GBP": ("pêni", "pence")},
    amount=lambda whole, minor, noun: f"{whole} e {minor} {noun}",
    unit_names={
        "dB": ("decibel", "decibéis"),
        "bpm": ("batimento por minuto", "batimentos por minuto"),
        "rpm": ("rotação por minuto", "rotações por minuto"),
        "Mbps": ("megabit por segundo", "megabits por segundo"),
        "Gbps": ("gigabit por segundo", "gigabits por segundo"),
        "mass-kilogram": ("quilo", "quilos"),
        "temperature-celsius": ("grau", "graus"),
        "angle-degree": ("grau", "graus"),
        "mass-tonne": ("tonelada", "toneladas"),
    },
    clock=_clock,
    hours="horas",
    day_parts=("da manhã", "da tarde", "da noite"),
    date_joins=(" de ", " de "),
    first="primeiro",
    date_context=(
        "dia|em|de|até|desde|no|do|a|para|segunda|terça|quarta|quinta|sexta|sábado|domingo"
    ),
    months={"set": 9},
    phone_parts=r"(?:\+(55))?(\d\d)(9\d{4})(\d{4})",
    codes=(
        r"(?<![\p{L}\d.,])(?:\d{5}-\d{3}|\d{3}\.\d{3}\.\d{3}-\d\d|\d\d\.\d{3}\.\d{3}/\d{4}-\d\d"
        r"|\(?\d\d\)? ?9\d{4}-?\d{4})(?!\d)"
    ),
    address_signs={
        "@": "arroba",
        "#": "hashtag",
        ".": "ponto",
        "-": "hífen",
        "_": "underline",
        "/": "barra",
        "+": "mais",
        ":": "dois pontos",
        "?": "interrogação",
        "=": "igual",
        "&": "e",
        "%": "por cento",
    },
    letters={"A": "á", "E": "é", "O": "ó", "Y": "ípsilon"},
    spelled=names("IA UE TV ID IP OMS API"),
    syllables=(
        r"(?:(?:[bcfgpv][rl]|[dt]r|ch|lh|nh|qu|[b-df-hj-np-tv-zç])?[aeiouáéíóúâêôãõ]{1,2}"
        r"(?:[lmnrszptdcx](?![aeiouáéíóúâêôãõ]))?){1,6}"
    ),
    regnal=names(
        "Pedro João Paulo Bento Pio Leão Gregório Clemente Inocêncio Manuel Afonso Carlos Filipe "
        "Henrique Luís Elizabeth Elisabete Isabel Maria Fernando Sebastião Sancho Jorge Guilherme "
        "Catarina Ramsés Nicolau Alexandre Frederico Urbano Napoleão Miguel"
    ),
    regnal_cardinal=10,
    centuries="séculos?",
    roman_words="séculos?|capítulo|tomo|volume|ato|parte|fase|tipo|grau|nível|título|anexo",
    signs={
        "×": "por",
        "x": "vezes",
        "x=": "vezes",
        "*=": "vezes",
        "×=": "vezes",
        "-=": "menos",
        ":=": "dividido por",
        "/=": "dividido por",
        "+=": "mais",
        "÷=": "dividido por",
        "÷": "dividido por",
        "=": "é igual a",
        "<": "menor que",
        ">": "maior que",
        "≤": "menor ou igual a",
        "≥": "maior ou igual a",
        "±": "mais ou menos",
        "≈": "aproximadamente",
        "&": "e",
        "+": "mais",
        "√": "raiz de",
        "→": "",
        "^": "elevado a",
        "§": "parágrafo",
        "²": "ao quadrado",
        "³": "ao cubo",
    },
    abbreviations={
        r"OK(?!\p{L})": "oquei",
        r"[Ss]ra\.": "senhora",
        r"[Ss]ras\.": "senhoras",
        r"[Ss]rta\.": "senhorita",
        r"[Ss]r\.": "senhor",
        r"[Ss]rs\.": "senhores",
        r"[Dd]ra\.": "doutora",
        r"[Dd]r\.": "doutor",
        r"Drs\.": "doutores",
        r"Profa\.|Prof\.ª|Profª\.?": "professora",
        r"Prof\.": "professor",
        r"D\.(?= \p{Lu}\p{Ll})": "dona",
        r"Eng\.": "engenheiro",
        r"Exmo\.": "excelentíssimo",
        r"[Aa]v\.": "avenida",
        r"R\.(?= \p{Lu})": "rua",
        r"[Pp][çc]a\.": "praça",
        r"[Nn]\.?[º°]\.?(?= ?\d| (?:\p{Lu}|d[eoa] ))|[Nn]úm\.": "número ",
        r"[Aa]pto?\.|[Aa]pto(?= \d)": "apartamento",
        r"[Bb]l\.(?= )": "bloco",
        r"[Pp]ágs\.|pp\.(?= \d)": "páginas",
        r"[Pp]ág\.|p\.(?= \d)": "página",
        r"[Cc]ap\.(?= \d)": "capítulo",
        r"[Aa]rt\.(?= \d)": "artigo",
        r"[Vv]ol\.(?= \d)": "volume",
        r"[Tt]el\.": "telefone",
        r"[Cc]el\.(?= [\d(])": "celular",
        r"etc\.?(?!\p{L})": "etcétera",
        r"p\. ?ex\.": "por exemplo",
        r"a\. ?C\.": "antes de Cristo",
        r"d\. ?C\.": "depois de Cristo",
        r"aprox\.": "aproximadamente",
        r"máx\.": "máximo",
        r"mín\.": "mínimo",
        r"[Dd]epto\.": "departamento",
        r"[Ll]tda\.": "limitada",
        r"[Cc]ia\.": "companhia",
        r"[Ss]ta\.(?= \p{Lu})": "santa",
        r"[Ss]to\.(?= \p{Lu})": "santo",
        r"(?<!\d )[Kk]m\.?(?= \d)": "quilômetro",
        r"vs\.?(?!\p{L})": "versus",
        r"e/ou(?!\p{L})": "e ou",
        r"S\.A\.|S/A(?!\p{L})": "esse á",
        r"(?<=\d )x(?= \d)(?! \d+ ?(?:[cmk]?m|kg|g|l|ml|pol)(?!\p{L}))(?! [\d.,]+ =)": "a",
    },
)


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`."""
    european.apply(rewriter, LANGUAGE)
