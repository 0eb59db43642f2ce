"""E-mail addresses, URLs, file names, versions and the identifiers of programs."""

import regex

from kokoro_text.english.frame import Rule, around, before
from kokoro_text.english.numerals import Numerals, digits, letters, letters_or_word

_DOMAINS = (
    "com|org|net|edu|gov|mil|int|info|biz|dev|app|io|ai|co|uk|us|ca|au|nz|ie|in|eu|de|fr|es|it|nl|"
    "be|ch|at|se|no|dk|fi|pl|pt|br|mx|jp|cn|kr|ru|za|tv|me|ly|gl|gg|xyz|online|shop|store|cloud|"
    "tech|site|blog|news|museum|example|test|local"
)
_EXTENSIONS = (
    "pdf|docx?|xlsx?|pptx?|odt|txt|rtf|csv|tsv|json|jsonl|xml|yaml|yml|toml|ini|cfg|conf|log|md"
    "|rst|"
    "html?|css|scss|js|mjs|jsx|ts|tsx|vue|py|ipynb|rb|go|rs|java|kt|swift|cpp|hpp|cs|php|pl|lua|sh|"
    "bash|bat|ps1|sql|db|sqlite|exe|dll|msi|dmg|iso|bin|zip|tar|gz|tgz|bz2|rar|7z|jpe?g|png|gif"
    "|svg|"
    "webp|bmp|tiff?|ico|psd|mp3|mp4|wav|ogg|flac|mov|avi|mkv|webm|eps|key|pem|env|lock|bak|tmp"
    "|onnx|"
    "net|dat|apk|ics|vcf|eml|epub|ttf|woff2?"
)
_SAID = {
    "json": "Jason", "jsonl": "Jason L", "jpeg": "jay peg", "yaml": "yaml", "exe": "E X E",
    "docx": "doc X", "xlsx": "X L S X", "ipynb": "I P Y N B", "tgz": "T G Z", "co": "co",
    "me": "me", "app": "app", "uk": "U K", "env": "env", "mp3": "M P three", "mp4": "M P four",
    "7z": "seven Z", "bz2": "B Z two", "ps1": "P S one", "www": "W W W", "ini": "I N I",
    "rtf": "R T F", "csv": "C S V", "tiff": "tiff", "npm": "N P M", "etc": "etc", "dev": "dev",
    "api": "A P I", "faq": "F A Q", "url": "U R L", "usr": "U S R", "src": "source", "nasa": "nasa",
    "dat": "dat", "pem": "pem", "bat": "bat", "gif": "gif", "tar": "tar", "gov": "gov",
    "log": "log",
    "bak": "back", "sql": "S Q L", "ios": "I O S", "id": "I D", "utf": "U T F", "php": "P H P",
    "cgi": "C G I", "aws": "A W S", "gpt": "G P T", "max": "max", "min": "min", "img": "I M G",
}  # fmt: skip
_SIGNS = {
    ".": "dot", "/": "slash", "\\": "backslash", ":": "colon", "@": "at", "-": "dash",
    "_": "underscore", "?": "question mark", "=": "equals", "&": "and", "#": "hash", "%": "percent",
    "+": "plus", "~": "tilde", ",": "comma", "!": "exclamation mark", "*": "star", "$": "dollar",
    ";": "semicolon",
}  # fmt: skip
_PART = regex.compile(r"\d+|\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{L}|[^\p{L}\d]")

_EMAIL = regex.compile(
    r"(?<![\w.+%-])(?:mailto:)?(?P<said>[\w.+%-]{1,64}+@[\p{L}\d-]{1,63}"
    r"(?:\.[\p{L}\d-]{1,63}){1,6})"
)
_URL = regex.compile(
    r"(?<![\p{L}\p{N}_.@-])(?P<said>"
    r"(?:(?i:https?|ftp|wss?)://|(?i:www)\.(?=\w))[^\s<>\"“”]{0,2000}[^\s<>\"“”.,;:!?')\]…]"
    rf"|(?:[\p{{L}}\d-]{{1,63}}\.){{1,5}}(?i:{_DOMAINS})(?![\p{{L}}\p{{N}}_-]|\.\w)"
    r"(?::\d{1,5})?(?:[/?#](?:[^\s<>\"“”]{0,2000}[^\s<>\"“”.,;:!?')\]…])?)?"
    r"|(?:localhost|[\p{L}-]{2,30}(?=:\d{4,5}"
    r"(?!\d)))(?::\d{2,5})(?:/[^\s<>\"“”.,;:!?')\]]{0,200})?)"
)
_IP = regex.compile(
    r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?P<port>:\d{1,5})?(?:/\d{1,2})?(?![\d]|\.\d)"
)
_FILE = regex.compile(
    r"(?<![\p{L}\p{N}_.@/\\-])(?P<said>(?:[\p{L}\d_-]{1,80}\.){0,4}?(?P<stem>[\p{L}\d_-]{0,80})"
    rf"\.(?i:{_EXTENSIONS}))(?![\p{{L}}\p{{N}}_-]|\.\w)"
)
_PATH = regex.compile(
    r"(?<![\p{L}\p{N}_./~])(?P<said>(?:~|\.{1,2})?(?:/[\p{L}\d_.-]{1,80}){1,20}/?(?<![.]))"
    r"(?![\p{L}\p{N}/])"
    r"|(?<![\p{L}\p{N}])(?P<said>\p{L}:\\[\p{L}\d_.\\-]{0,200}(?<![.]))"
)
_VERSION = regex.compile(
    r"(?<![\p{L}\p{N}_.])(?P<v>[Vv](?:er)?\.? ?)?(?P<number>\d{1,8}(?:\.\d{1,8}){2,5})"
    r"(?P<rest>[-.]?(?:alpha|beta|rc|dev|post|pre|a|b)[-.]?\d{0,4})?(?![\p{L}\p{N}_]|\.\d)"
)
_V_NUMBER = regex.compile(
    r"(?<![\p{L}\p{N}_.])(?P<v>v\.? ?(?=\d)|V(?=\d+\.))(?P<number>\d{1,4}(?:\.\d{1,4})?)"
    r"(?![\p{L}\p{N}_]|\.\d)"
)
_NAMED_VERSION = regex.compile(
    r"\b(?i:python|version|release|build|ios|ipados|macos|android|windows|ubuntu|debian|fedora"
    r"|node|"
    r"java|ruby|php|swift|kotlin|rust|django|rails|react|angular|chrome|firefox|safari|postgres"
    r"|mysql|"
    r"redis|kernel|linux|section|clause|chapter|figure|table|article|rule|paragraph|exercise|"
    r"equation|gpt|claude|llama|gemini|usb|http|tls|bluetooth|gpt-)[ -]?"
    r"(?P<said>\d{1,4}\.\d{1,4})(?![\p{L}\p{N}_]|\.\d| ?%)"
)
_FLAG = regex.compile(r"(?<!\S)(?P<said>--?(?=\p{L})[\p{L}\d-]{1,60})(?![\p{L}\p{N}])")
_SNAKE = regex.compile(
    r"(?<![\p{L}\p{N}_])_{0,2}(?:[\p{L}\d]{1,60}_{1,2}){1,10}[\p{L}\d]{0,60}(?P<call>\(\))?"
    r"(?![\p{L}\p{N}_])"
)
_CAMEL = regex.compile(
    r"(?<![\p{L}\p{N}_])(?!mmHg\b)(?:\p{Ll}{2,40}|\p{Ll}(?=\p{Lu}\p{Ll}{2,40}\p{Lu}))\p{Lu}\p{Ll}{0,40}"
    r"(?:\p{Lu}\p{Ll}{0,40}|\d{1,6}){0,9}(?P<call>\(\))?(?![\p{L}\p{N}_])"
    r"|(?<![\p{L}\p{N}_])[\p{L}\d]{1,60}(?P<call>\(\))"
)
_DOTTED_CALL = regex.compile(r"(?<=[\p{L}\d_])\.(?=[\p{L}_]{1,40}\()")
_VARIABLE = regex.compile(r"(?<![\p{L}\p{N}])\$\{?(?=\p{L})")
_PACKAGE = regex.compile(
    r"(?<![\p{L}\p{N}_.-])(?:npm|npx|pnpm|sudo|kubectl|ssh|https?|ftp|html|css|xml|sql|php|smtp"
    r"|ssl|tls|"
    r"tcp|udp|vpn|dns|cpu|gpu|usb|pdf|mp3|csv|url|api|rpm|bpm|dpi|ppi|fps|ppm|psi|diy|faq|tv|id"
    r"|fyi|"
    r"btw|imo|imho|lol|omg|asap|rsvp|atm|cgi|gcc|nginx|vs code)(?P<plural>s)?(?![\p{L}\p{N}_-]"
    r"|\.\w)"
)
_COMMANDS = {
    "sudo": "sue doo", "nginx": "engine X", "kubectl": "cube control", "npm": "N P M",
    "asap": "A S A P", "vs code": "V S code", "lol": "L O L",
}  # fmt: skip


def _spelled(word: str, numerals: Numerals, *, silent: str = "") -> str:
    """Return an address or name: words, spelled letters, numbers, and the names of signs."""
    said: list[str] = []
    for part in _PART.findall(word):
        if part in silent:
            continue
        if part.isdecimal():
            said.append(digits(part) if part[0] == "0" else _number_part(part, numerals))
        elif part.lower() in _SAID:
            said.append(_letters_linked(_SAID[part.lower()]))
        elif part.isalpha():
            said.append(letters_or_word(part))
        else:
            said.append(_SIGNS.get(part, ""))
    return " ".join(said)


def _number_part(part: str, numerals: Numerals) -> str:
    one_by_one = len(part) > 4 or (len(part) == 3 and part[1:] != "00")
    return digits(part) if one_by_one else numerals.pairs(part)


def _letters_linked(said: str) -> str:
    return " ".join(letters(word) if len(word) == 1 else word for word in said.split())


def _domain(word: str, numerals: Numerals) -> str:
    """Return the end of a domain. Country codes are spelled."""
    name, dot, top = word.rpartition(".")
    short = len(top) == 2 and top.lower() not in _SAID
    last = letters(top) if short else _spelled(top.lower(), numerals)
    return f"{_spelled(name, numerals)} dot {last}" if dot else _spelled(word, numerals)


def _case(word: str) -> str:
    return word.lower() if not any(char.islower() for char in word) else word


def _email(match: "regex.Match[str]", numerals: Numerals) -> str:
    name, _, domain = _case(match["said"]).partition("@")
    return f"{_spelled(name, numerals)} at {_domain(domain, numerals)}"


def _url(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    address = regex.sub(r"^(?i:https?|ftp|wss?)://", "", match["said"]).rstrip("/")
    host = regex.match(r"[^/:?#]*", address)
    name = host[0] if host else ""
    if regex.fullmatch(r"(?i:ASP|ADO|\w*)\.NET", name):
        return None
    if regex.fullmatch(r"\p{L}{2,}\.(?:In|It|At|No|Me|Be|Us|Es|Se|De|Co)", name):
        return None
    rest = _spelled(address[len(name) :], numerals)
    if regex.fullmatch(r"[\d.]+", name):
        return f"{_dotted_digits(name)} {rest}"
    return f"{_domain(_case(name), numerals)} {rest}"


def _dotted_digits(address: str) -> str:
    return " dot ".join(digits(part) for part in address.split("."))


def _ip(match: "regex.Match[str]", numerals: Numerals) -> str:
    address, *port = regex.split("[:/]", match[0])
    said = _dotted_digits(address)
    if port:
        said += f" {'colon' if match['port'] else 'slash'} {_number_part(port[0], numerals)}"
    return said


def _file(match: "regex.Match[str]", numerals: Numerals) -> str:
    name, _, extension = match["said"].rpartition(".")
    said = f"{_spelled(name, numerals, silent='_-')} dot" if name else "dot"
    known = extension.lower()
    if known in _SAID:
        return f"{said} {_letters_linked(_SAID[known])}"
    words = {"doc", "docs", "text", "bin", "zip", "conf", "lock", "java", "swift", "bash", "key",
             "toml", "net", "view", "flac", "lua", "go"}  # fmt: skip
    return f"{said} {known if known in words else letters(known)}"


def _path(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if match["said"] == "/" or regex.fullmatch(r"/[\d.]+", match["said"]):
        return None
    return _spelled(match["said"].rstrip("/\\"), numerals, silent="_")


def _version(match: "regex.Match[str]", numerals: Numerals) -> str:
    said = _points(match["number"], numerals)
    rest = regex.sub("[-.]", " ", match.groupdict().get("rest") or "")
    rest = " ".join(numerals.code(part) for part in rest.split())
    if match["v"] and not regex.search(r"(?i)version $", before(match)):
        said = f"version {said}"
    return f"{said} {rest}"


def _points(number: str, numerals: Numerals) -> str:
    return " point ".join(
        digits(part) if part[0] == "0" else numerals.cardinal(int(part))
        for part in number.split(".")
    )


def _named_version(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _points(match["said"], numerals)


def _flag(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    name = match["said"].lstrip("-")
    if match["said"].startswith("--"):
        return f"dash dash {_spelled(name, numerals)}"
    return f"dash {_spelled(name, numerals)}" if len(name) == 1 or "--" in around(match) else None


def _identifier(match: "regex.Match[str]", numerals: Numerals) -> str:
    parts = _PART.findall(match[0].removesuffix("()"))
    said = _spelled(" ".join(parts), numerals, silent="_ ")
    return said.lower() if _plain(parts) else said


def _plain(parts: list[str]) -> bool:
    """Whether all parts are words, so that `getUserName` is said like `get user name`."""
    return all(part == "_" or (len(part) > 2 and part[1:].islower()) for part in parts) and not any(
        part.lower() in _SAID for part in parts
    )


def _command(match: "regex.Match[str]", numerals: Numerals) -> str:
    name = match[0].removesuffix("s") if match["plural"] else match[0]
    if name in _COMMANDS:
        return _letters_linked(_COMMANDS[name])
    said = numerals.code(name) if name == "mp3" else letters(name)
    return f"{said}'s" if match["plural"] else said


RULES: tuple[Rule, ...] = (
    (_EMAIL, _email),
    (_URL, _url),
    (_IP, _ip),
    (_FILE, _file),
    (_PATH, _path),
    (_VERSION, _version),
    (_V_NUMBER, _version),
    (_NAMED_VERSION, _named_version),
    (_FLAG, _flag),
    (_DOTTED_CALL, lambda match, numerals: " dot "),
    (_SNAKE, _identifier),
    (_CAMEL, _identifier),
    (_VARIABLE, lambda match, numerals: "dollar "),
    (_PACKAGE, _command),
)
