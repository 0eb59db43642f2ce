"""How French is read aloud."""

import regex
from num2words import num2words

from kokoro_text import european
from kokoro_text.european_language import Language, names
from kokoro_text.european_numbers import cardinal
from kokoro_text.reading import Rewriter

_FEMININE = regex.compile(
    r".*(?:[cstx]ion|[dt]é(?<!côté|été|comité|traité|député)|ette|elle|esse|euse|rice|ance|ence"
    r"|ure|ade|ée(?<!musée|lycée|trophée)|[^g]ie(?<!génie)|ine|aine|ise|ise|ise|aise|oise|ouche|ille"
    r"|lle|nne|tte|rre(?<!verre|beurre|tonnerre)|che(?<!dimanche|manche)|ite(?<!site|mérite)|ode"
    r"(?<!code|mode|épisode)|uche|tude|ule|que(?<!disque|risque|chèque|lexique|moustique))s?"
)
_FEMININE_WORDS = names(
    "c place chaise page ligne lettre personne voiture heure minute seconde nuit fois femme fille "
    "table chambre carte porte rue ville route piste boîte tasse tranche cuillère goutte livre "
    "semaine année journée date commande facture offre pièce tonne image plage cage erreur "
    "couleur fleur valeur main part clé voix croix dent fin maison leçon façon boisson chanson "
    "victime équipe étape école époque note tête fête phrase somme photo moto radio vidéo pomme "
    "poire banane orange tomate carotte usine marche plante roue lampe robe veste jupe voie loi "
    "fourmi souris brebis perdrix noix vis bouteille étoile couronne roupie peseta lire once "
    "demande réponse ressource adresse agence caisse classe branche base cause chose course "
    "danse dose force halte messe peine phase pause panne pile prise réserve salle scène "
    "série source tâche trace vache vague vente zone alerte amende feuille dizaine douzaine "
    "centaine mètre-carré copie option mission session version appli application app "
    "dame mère sœur tante nièce reine pizza tonne candidate étudiante cliente employée "
    "pinte portion baguette crêpe galette fraise cerise olive enveloppe entrée sortie "
)
_MASCULINE_WORDS = names(
    "mille kilomètre mètre litre gramme magazine domaine patrimoine squelette modèle vermicelle "
    "violoncelle silence groupe parapluie incendie foie murmure chiffre article"
)


def _gender(noun: str) -> str:
    single = noun.removesuffix("s") if noun not in ("fois", "souris", "vis", "brebis") else noun
    if single in _FEMININE_WORDS:
        return "f"
    return "f" if single not in _MASCULINE_WORDS and _FEMININE.fullmatch(single) else "m"


def _agree(words: str, noun: str) -> str:
    return f"{words}e" if _gender(noun) == "f" and words.endswith("un") else words


def _ordinal(number: int, gender: str, noun: str) -> str:
    if number == 1 and gender == "f":
        return "première"
    if number == 0 or number > 10**6:
        return cardinal(LANGUAGE, number)
    words: str = num2words(number, lang="fr", to="ordinal")
    return words


def _of(noun: str) -> str:
    return f"d'{noun}" if noun[0] in "aeéèêiouhyAEÉIOU" else f"de {noun}"


def _clock(hour: str, minute: str, number: int) -> str:
    hours = "heure" if hour in ("une", "zéro") else "heures"
    return f"{hour} {hours} {minute}" if number else f"{hour} {hours}"


LANGUAGE = Language(
    locale="fr",
    comma="virgule",
    point="point",
    minus="moins",
    percent="pour cent",
    per_mille="pour mille",
    per=lambda noun: f"par {noun}",
    range="à",
    over="sur",
    and_a="et",
    and_half={"m": "et demi", "f": "et demie"},
    number_sign="numéro",
    agree=_agree,
    gender=_gender,
    not_nouns=names(
        "de du des d et ou à au aux en dans par pour sur sous que qui le la les l un une se est "
        "sont avec sans ni ne pas plus moins puis mais car si entre vers chez dès jusqu bis "
        "ter voit cette elle elles quand quelle"
    ),
    labels=names(
        "page pages p chapitre article numéro n° salle porte rue chambre ligne niveau leçon année "
        "années version tome volume canal quai voie étage bus vol taille route groupe "
        "option étape phase avenue code question exercice"
    ),
    before_years=names("en depuis dès avant après"),
    partitive=r"sur|des|de ces|d'entre",
    ordinal=_ordinal,
    ordinal_marks={
        "m": r"ers?|[èe]mes?|es?|ᵉ",
        "f": r"[èe]?res?",
    },
    roman_ordinal_marks={"m": r"e|[èe]me|er(?<=Ier)", "f": r"[èe]?re(?<=I[èe]?re)"},
    half={"m": "un demi", "f": "une demi"},
    fractions={3: ("tiers", "tiers"), 4: ("quart", "quarts")},
    plural=lambda words: f"{words}s",
    of=_of,
    scales={
        "M": ("million", "millions"),
        "Md": ("milliard", "milliards"),
        "Mds": ("milliard", "milliards"),
        "Mrd": ("milliard", "milliards"),
        "million": ("million", "millions"),
        "millions": ("million", "millions"),
        "milliard": ("milliard", "milliards"),
        "milliards": ("milliard", "milliards"),
        "k": ("mille", "mille"),
        "K": ("mille", "mille"),
    },
    bare_currencies={
        "GBP": ("livre sterling", "livres sterling"),
        "BRL": ("réal", "réaux"),
        "CHF": ("franc suisse", "francs suisses"),
    },
    cents={
        "": ("centime", "centimes"),
        "USD": ("cent", "cents"),
        "CAD": ("cent", "cents"),
        "GBP": ("penny", "pence"),
        "MXN": ("centavo", "centavos"),
    },
    amount=lambda whole, minor, noun: f"{whole} {minor}",
    unit_names={
        "dB": ("décibel", "décibels"),
        "bpm": ("battement par minute", "battements par minute"),
        "rpm": ("tour par minute", "tours par minute"),
        "Mbps": ("mégabit par seconde", "mégabits par seconde"),
        "Gbps": ("gigabit par seconde", "gigabits par seconde"),
        "temperature-celsius": ("degré", "degrés"),
        "speed-kilometer-per-hour": ("kilomètre-heure", "kilomètres-heure"),
        "angle-degree": ("degré", "degrés"),
        "mass-kilogram": ("kilo", "kilos"),
    },
    units={
        "Go": "digital-gigabyte",
        "Mo": "digital-megabyte",
        "Ko": "digital-kilobyte",
        "ko": "digital-kilobyte",
        "To": "digital-terabyte",
        "j": "duration-day",
        "mn": "duration-minute",
        "sec": "duration-second",
    },
    clock=_clock,
    hours="heures",
    day_parts=("du matin", "de l'après-midi", "du soir"),
    date_joins=(" ", " "),
    first="premier",
    date_context="le|du|au|dès|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
    months={"juill": 7, "sept": 9, "janv": 1, "févr": 2, "fév": 2, "déc": 12},
    phone_pairs=True,
    phone_parts=r"(?:(?:\+|00)(33)([1-9])|(0[1-9]))(\d\d)(\d\d)(\d\d)(\d\d)",
    address_signs={
        "@": "arobase",
        "#": "hashtag",
        ".": "point",
        "-": "tiret",
        "_": "tiret bas",
        "/": "slash",
        "+": "plus",
        ":": "deux points",
        "?": "point d'interrogation",
        "=": "égale",
        "&": "et",
        "%": "pour cent",
    },
    letters={"Y": "i grec"},
    spelled=names("IA UE USA PIB CEO ID IP TV API URL CV CDI CDD PME RER BD ADN AG ONG PDG TGV"),
    syllables=(
        r"(?:(?:[bcfgpv][rl]|[dt]r|ch|qu|s[clmpt]r?|[b-df-hj-np-tv-zç])?[aeiouyéèêàâîôû]{1,3}"
        r"(?:(?:[nr]ts?|[nr]ds?|[lnrtp]s|st|nc|mps?|[lmnrsdzxtcpbf])(?![aeiouyéè]))?){1,6}"
    ),
    regnal=names(
        "Louis François Henri Charles Philippe Napoléon Élisabeth Elisabeth Jean Paul Benoît Pie "
        "Léon Grégoire Clément Innocent Georges Guillaume Catherine Ramsès Nicolas Alexandre "
        "Frédéric Urbain Édouard Richard Jacques Léopold Albert Baudouin"
    ),
    regnal_cardinal=1,
    centuries="(?!)",
    roman_words="chapitre|tome|volume|acte|partie|phase|type|niveau|titre|annexe|livre",
    signs={
        "×": "par",
        "x": "fois",
        "x=": "fois",
        "*=": "fois",
        "×=": "fois",
        "-=": "moins",
        ":=": "divisé par",
        "/=": "divisé par",
        "+=": "plus",
        "÷=": "divisé par",
        "÷": "divisé par",
        "=": "égale",
        "<": "inférieur à",
        ">": "supérieur à",
        "≤": "inférieur ou égal à",
        "≥": "supérieur ou égal à",
        "±": "plus ou moins",
        "≈": "environ",
        "&": "et",
        "+": "plus",
        "√": "racine de",
        "→": "",
        "^": "puissance",
        "§": "paragraphe",
        "²": "au carré",
        "³": "au cube",
    },
    abbreviations={
        r"av\. J\.-C\.": "avant Jésus-Christ",
        r"apr?\. J\.-C\.": "après Jésus-Christ",
        r"MM\.(?= \p{Lu})": "messieurs",
        r"M\.(?= (?:\p{Lu}|et |le |l'))": "monsieur",
        r"Mme\.?(?!\p{L})": "madame",
        r"Mmes\.?(?!\p{L})": "mesdames",
        r"Mlle\.?(?!\p{L})": "mademoiselle",
        r"Mgr(?= \p{Lu})": "monseigneur",
        r"Dre(?= \p{Lu})": "docteure",
        r"Dr\.?(?= \p{Lu})": "docteur",
        r"Drs(?= \p{Lu})": "docteurs",
        r"Pr\.?(?= \p{Lu})": "professeur",
        r"Me(?= \p{Lu}\p{Ll})": "maître",
        r"St(?=[ -]\p{Lu})": "saint",
        r"Ste(?=[ -]\p{Lu})": "sainte",
        r"[Aa]v\.(?= \p{L})": "avenue",
        r"[Bb](?:ou)?l?v?d\.?(?= \p{L})": "boulevard",
        r"[Pp]l\.(?= \p{L})": "place",
        r"[Nn][°º](?= ?\d| (?:\p{Lu}|de |du ))|[Nn]o\.?(?= \d)": "numéro ",
        r"[Nn]os(?= \d)|[Nn][°º]s(?= ?\d)": "numéros ",
        r"pp\.(?= \d)": "pages",
        r"p\.(?= \d)": "page",
        r"[Cc]hap\.(?= ?\d)": "chapitre",
        r"[Aa]rt\.(?= ?\d)": "article",
        r"[Tt]él\.": "téléphone",
        r"etc\.": "et cetera",
        r"p\. ?ex\.": "par exemple",
        r"c\.-à-d\.": "c'est-à-dire",
        r"env\.(?= \d)": "environ",
        r"max\.": "maximum",
        r"min\.(?! \d)": "minimum",
        r"apt\.(?= \d)|appt\.?(?= \d)": "appartement",
        r"[Éé]t\.(?= \d)": "étage",
        r"vs\.?(?!\p{L})": "versus",
        r"et/ou(?!\p{L})": "et ou",
        r"S\.A\.(?!\p{L})": "S A",
        r"RDV|rdv": "rendez-vous",
        r"c\. ?à ?s\.": "cuillères à soupe",
        r"c\. ?à ?c\.": "cuillères à café",
        r"c\.(?= à (?:soupe|café))": "cuillère",
        r"2nd(?!\p{L})": "second",
        r"2nde(?!\p{L})": "seconde",
        r"(?<!\d )[Kk]m\.?(?= \d)": "kilomètre",
        r"[Ss]vp(?!\p{L})|SVP(?!\p{L})": "s'il vous plaît",
    },
)


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`."""
    european.apply(rewriter, LANGUAGE)
