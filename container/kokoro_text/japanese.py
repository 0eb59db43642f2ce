"""How Japanese is read aloud.

Digits become numerals in kanji. How these sound, also together with a counter, OpenJTalk knows:
三本 is さんぼん, and 二十歳 is はたち.
"""

import regex

from kokoro_text.numerals import ROMAN, digit_by_digit, japanese_number
from kokoro_text.reading import Rewriter, table_rule

type Match = regex.Match[str]

_INTEGER = r"(?:\d{1,3}(?:[,，]\d{3}){1,6}(?!\d)|\d{1,40})"
_NUMBER = rf"{_INTEGER}(?:\.\d{{1,40}})?"
_RANGE_SIGN = r"[〜~～–—]"

_CURRENCIES = {"¥": "円", "$": "ドル", "€": "ユーロ", "£": "ポンド", "₩": "ウォン", "₹": "ルピー"}
_CODES = {"JPY": "円", "USD": "ドル", "EUR": "ユーロ", "GBP": "ポンド"}
_CURRENCY_SIGN = r"(?:US)?[¥$€£₩₹]"
_UNITS = {
    "km/h": "キロメートル毎時", "m/s": "メートル毎秒", "km2": "平方キロメートル",
    "m2": "平方メートル", "m3": "立方メートル", "cm2": "平方センチメートル",
    "cm3": "立方センチメートル", "km": "キロメートル", "cm": "センチメートル", "mm": "ミリメートル",
    "m": "メートル", "kg": "キログラム", "mg": "ミリグラム", "g": "グラム", "ml": "ミリリットル",
    "mL": "ミリリットル", "dl": "デシリットル", "dL": "デシリットル", "L": "リットル",
    "l": "リットル", "ha": "ヘクタール", "t": "トン", "kcal": "キロカロリー", "cal": "カロリー",
    "kWh": "キロワット時", "kW": "キロワット", "W": "ワット", "V": "ボルト", "A": "アンペア",
    "GHz": "ギガヘルツ", "MHz": "メガヘルツ", "kHz": "キロヘルツ", "Hz": "ヘルツ",
    "TB": "テラバイト", "GB": "ギガバイト", "MB": "メガバイト", "KB": "キロバイト",
    "kB": "キロバイト", "Mbps": "メガビーピーエス", "Gbps": "ギガビーピーエス", "dB": "デシベル",
    "hPa": "ヘクトパスカル", "ms": "ミリ秒", "min": "分", "h": "時間", "s": "秒", "pt": "ポイント",
    "px": "ピクセル", "%": "パーセント", "‰": "パーミル", "°C": "度", "°F": "度", "°": "度",
}  # fmt: skip
_SPOKEN_DIGITS = ("ゼロ", "イチ", "ニー", "サン", "ヨン", "ゴー", "ロク", "ナナ", "ハチ", "キュー")
_WEEKDAYS = "月火水木金土日"
_ADDRESS_SIGNS = {
    "@": "アットマーク", ".": "ドット", "/": "スラッシュ", "-": "ハイフン", "_": "アンダーバー",
    ":": "コロン", "?": "クエスチョン", "=": "イコール", "&": "アンド", "#": "シャープ",
    "%": "パーセント", "~": "チルダ", "+": "プラス",
}  # fmt: skip
_FRACTION_SIGNS = {
    "½": "二分の一",
    "⅓": "三分の一",
    "⅔": "三分の二",
    "¼": "四分の一",
    "¾": "四分の三",
}
_OPERATORS = {
    "=": "イコール", "≒": "ニアリーイコール", "≠": "ノットイコール", "+": "足す", "-": "引く",
    "×": "かける", "÷": "割る", "<": "小なり", ">": "大なり", "≤": "小なりイコール",
    "≥": "大なりイコール", "/": "割る", "*": "かける",
}  # fmt: skip
_SIGNS = {
    "&": "アンド", "+": "プラス", "±": "プラスマイナス", "@": "アット", "#": "シャープ", "→": "、",
    "⇒": "、", **dict.fromkeys("※♪*■●○◆", ""),
}  # fmt: skip

# Latin words that OpenJTalk would spell.
_WORDS = {
    "SIM": "シム", "PIN": "ピン", "RAM": "ラム", "ZOOM": "ズーム", "PASMO": "パスモ",
    "ICOCA": "イコカ", "Suica": "スイカ", "Python": "パイソン", "ChatGPT": "チャットジーピーティー",
    "MacBook": "マックブック", "macOS": "マックオーエス", "iOS": "アイオーエス",
    "Zoom": "ズーム", "Ver.": "バージョン", "ver.": "バージョン", "PayPay": "ペイペイ",
    "LINE": "ライン", "vs.": "たい", "vs": "たい",
}  # fmt: skip

_COUNTER_AHEAD = r"(?=[\p{Han}\p{Katakana}ひつ%°]|[A-Za-z]{1,4}(?![A-Za-z]))"
_UNIT = "|".join(map(regex.escape, sorted(_UNITS, key=len, reverse=True)))
_WORD_END = r"(?![A-Za-z])"

# Addresses, telephone numbers and codes: letters and digits one by one.
_ADDRESS = regex.compile(
    r"(?<![A-Za-z\d])(?:https?://|www\.)[A-Za-z\d@.:/?=&#%~+_-]{1,500}"
    r"|(?<![A-Za-z\d.])[A-Za-z\d._+-]{1,64}@[A-Za-z\d.-]{1,190}"
    r"|(?<![A-Za-z\d@.])[A-Za-z\d-]{1,63}(?:\.[A-Za-z\d-]{1,63}){0,5}"
    r"\.(?:com|net|org|io|dev|jp|co|ai|app)(?:/[A-Za-z\d@.:/?=&#%~+_-]{0,500})?(?![A-Za-z\d])"
)
_POSTCODE = regex.compile(r"〒\s?(\d{3}-\d{4})(?!\d)")
_PHONE = regex.compile(
    r"(?<!\d-?)(?:\+\d{1,3}-\d{1,4}(?:-\d{2,4}){1,3}|\(?0\d{1,4}[()-]\d{1,4}[)-]\d{3,4}"
    r"|0\d{9,10}|\d{2,5}-\d{3,5}(?:-\d{2,6}){0,3}(?!\s?[\p{Han}%°kcmg]))(?!-?\d)"
)
_BLOCK = regex.compile(r"(?<=\p{Han})\d{1,3}(?:-\d{1,4}){2,3}(?![-\d])")
_QUARTER = regex.compile(r"(?<=第\d)四半期")
_CODE = regex.compile(
    r"(?:番号|コード|ID|PIN|パスワード)(?:は|が|:|\s){0,2}(?<said>\d{3,40})(?![.,:/-]?\d)"
    r"|(?<![A-Za-z])[A-Z]{1,5}(?<said>-?\d{3,40})(?![.,]?\d)"
)
# Dates and times.
_WEEKDAY_IN_BRACKETS = rf"(?:\(([{_WEEKDAYS}])((?:[・,]祝)?)\))?"
_DATE = regex.compile(
    rf"(?<!\d[/.-]?)(?:(?<year>\d{{4}})(?:年|(?<sign>[/.-]))\s?)(?<month>\d{{1,2}})(?:月|\g<sign>|[/.-])"
    rf"(?<day>\d{{1,2}})(?:日|(?![.:/-]?\d)){_WEEKDAY_IN_BRACKETS}"
)
_MONTH_DAY = regex.compile(
    rf"(?<!\d[/.]?)(?<month>\d{{1,2}})月(?<day>\d{{1,2}})日(?!間){_WEEKDAY_IN_BRACKETS}"
)
_SLASHED_DAY = regex.compile(
    rf"(?<!\d[/.-]?)(?<month>\d{{1,2}})/(?<day>\d{{1,2}})(?![\d/])"
    rf"(?=\([{_WEEKDAYS}]|[のにはかま、〜~]|\s\d{{1,2}}:){_WEEKDAY_IN_BRACKETS}"
)
_TIME = regex.compile(r"(?<!\d[:.]?)(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?!:?\d)")
_RATIO = regex.compile(r"(?<!\d:?)(\d{1,4}):(\d{1,4})(?!:?\d)")
# Two numbers with a sign between them: scores, ranges and equations.
_SCORE = regex.compile(
    r"(?<![\d:-])(\d{1,3})[-:](\d{1,3})(?=で(?:勝|負|敗|引)|の(?:勝|負|敗|引|逆|大))"
)
_RANGE_OF_NEIGHBOURS = regex.compile(
    rf"(?<![\d.,-])(?<first>[1-8])(?:{_RANGE_SIGN}|-)(?<second>[2-9])(?=\p{{Han}}|つ|カ)"
)
_RANGE = regex.compile(
    rf"(?<=[\d\p{{Han}}\p{{Katakana}}A-Za-z%)])\s?(?<said>{_RANGE_SIGN})"
    r"\s?(?=[¥$€£]?-?\d|[\p{Han}\p{Katakana}A-Za-z])"
)
_HYPHENATED_RANGE = regex.compile(rf"(?<![\d.,-]){_NUMBER}(?<said>-)(?={_NUMBER}{_COUNTER_AHEAD})")
_EQUATION = regex.compile(
    r"(?<![A-Za-z\d])[\dA-Za-z.()]{1,20}(?:\s?[-+×÷*/]\s?[\dA-Za-z.()]{1,20}){0,8}"
    r"\s?[=≒≠<>≤≥]\s?-?[\dA-Za-z.()]{1,20}(?:\s?[-+×÷*/]\s?[\dA-Za-z.()]{1,20}){0,8}"
)
_OPERATOR_OR_NUMBER = regex.compile(r"(?P<number>\d+(?:\.\d+)?)|(?P<sign>[=≒≠+×÷<>≤≥/*-])")
_SUM = regex.compile(r"(?<=\d)\s?(?<said>[×÷+])\s?(?=\d)")
# One number: money, fractions, units and labels.
_MONEY = regex.compile(
    rf"(?<!\d)(?<minus>-?){_CURRENCY_SIGN}\s?(?<minus2>-?)(?<number>{_NUMBER})(?<myriad>[万億兆]{{0,2}})"
)
_MONEY_CODE = regex.compile(
    rf"(?<![A-Za-z])(?<code>{'|'.join(_CODES)})\s?(?<number>{_NUMBER})(?<myriad>[万億兆]?)"
)
_SIGN_OF_MONEY = regex.compile(r"[¥$€£₩₹]")
_FRACTION = regex.compile(r"(?<!\d[/.]?)(\d{1,3})/(\d{1,3})(?!/?\d)")
_MINUS = regex.compile(r"(?<![\dA-Za-z])-(?=\d)")
_TEMPERATURE_F = regex.compile(rf"({_NUMBER})°F")
_QUANTITY = regex.compile(rf"({_NUMBER})\s?({_UNIT}){_WORD_END}(?!\d)")
_NUMBER_SIGN = regex.compile(r"(?<![A-Za-z])[Nn][Oo]\.\s?(?=\d)")
_ROMAN_NUMERAL = regex.compile(
    r"(?<=第|\p{Katakana}|\p{Han})(?<said>[IVX]{1,4})(?=[章部巻期世編話条級型]|$|[^\p{L}])"
)
_VERSION = regex.compile(r"(?<!\d\.?)\d{1,6}(?:\.\d{1,6}){2,5}(?!\.?\d)")
_PLAIN_NUMBER = regex.compile(_NUMBER)
# What is left if another rule has replaced a part of a number, as in `10:30,200円`.
_DIGITS = regex.compile(r"\d+")
_PEOPLE = regex.compile(r"(?<!\d)([12])人(?![前称工])")
_FLOOR = regex.compile(r"(?<![A-Za-z\d])(B?)(\d{1,2})F(?![A-Za-z\d])")
_LATIN = regex.compile(
    rf"(?<![A-Za-z])(?:{'|'.join(map(regex.escape, sorted(_WORDS, key=len, reverse=True)))})"
    rf"{_WORD_END}"
)
_FRACTION_SIGN_RULE = table_rule(_FRACTION_SIGNS)
_SIGN_RULE = table_rule(_SIGNS)


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`.

    The most specific rules come first: an address may contain a date, and a date a range.
    """
    rewriter.rule(_ADDRESS, _address)
    rewriter.rule(_POSTCODE, lambda match: f"郵便番号{_groups_of_digits(match[1])}")
    rewriter.rule(_DATE, _date)
    rewriter.rule(_EQUATION, _equation)
    rewriter.rule(_BLOCK, lambda match: "の".join(map(_number, match[0].split("-"))))
    rewriter.rule(_QUARTER, lambda _: "しはんき")
    rewriter.rule(_PHONE, lambda match: _groups_of_digits(match[0]))
    rewriter.rule(_CODE, lambda match: _groups_of_digits(match["said"]))
    rewriter.rule(_MONTH_DAY, _date)
    rewriter.rule(_SLASHED_DAY, _slashed_day)
    rewriter.rule(_SCORE, lambda match: f"{_number(match[1])}対{_number(match[2])}")
    rewriter.rule(_TIME, _time)
    rewriter.rule(_RATIO, lambda match: f"{_number(match[1])}対{_number(match[2])}")
    rewriter.rule(_RANGE_OF_NEIGHBOURS, _neighbours)
    rewriter.rule(_RANGE, lambda _: "から")
    rewriter.rule(_SUM, lambda match: _OPERATORS[match["said"]])
    rewriter.rule(_HYPHENATED_RANGE, lambda _: "から")
    rewriter.rule(_MONEY, _money)
    rewriter.rule(_MONEY_CODE, lambda match: _amount(match, _CODES[match["code"]]))
    rewriter.rule(_FRACTION, _fraction)
    rewriter.rule(_MINUS, lambda _: "マイナス")
    rewriter.rule(_TEMPERATURE_F, lambda match: f"華氏{_number(match[1])}度")
    rewriter.rule(_QUANTITY, lambda match: _number(match[1]) + _UNITS[match[2]])
    rewriter.rule(_NUMBER_SIGN, lambda _: "ナンバー")
    rewriter.rule(_ROMAN_NUMERAL, _roman)
    rewriter.rule(_VERSION, lambda match: "点".join(map(_number, match[0].split("."))))
    rewriter.rule(_PEOPLE, lambda match: "ひとり" if match[1] == "1" else "ふたり")
    rewriter.rule(_FLOOR, lambda match: f"{'地下' if match[1] else ''}{_number(match[2])}階")
    rewriter.rule(_LATIN, lambda match: _WORDS[match[0]])
    rewriter.rule(_PLAIN_NUMBER, lambda match: _number(match[0]))
    rewriter.rule(_DIGITS, lambda match: _number(match[0]))
    rewriter.rule(*_FRACTION_SIGN_RULE)
    rewriter.rule(*_SIGN_RULE)


def _number(written: str) -> str:
    """Return a number in kanji: 三点一四 for `3.14`, 八千六百 for `8,600`."""
    whole, point, fraction = regex.sub("[,，]", "", written).partition(".")
    return japanese_number(whole) + (f"点{digit_by_digit(fraction, 'ゼロ')}" if point else "")


def _groups_of_digits(written: str) -> str:
    """Return the digits of codes and telephone numbers, in kana: OpenJTalk reads 一二 as 12."""
    groups = regex.findall(r"\d+", written)
    return "、".join("".join(_SPOKEN_DIGITS[int(digit)] for digit in group) for group in groups)


def _address(match: Match) -> str:
    address = regex.sub(r"^https?://", "", match[0])
    # A dot at the end belongs to the sentence.
    address, end = (address[:-1], ".") if address.endswith(".") else (address, "")
    parts = regex.findall(r"[A-Za-z]+|\d+|.", address)
    return "".join(map(_address_part, parts)) + end


def _address_part(part: str) -> str:
    if part in _ADDRESS_SIGNS:
        return f" {_ADDRESS_SIGNS[part]} "
    return _groups_of_digits(part) if part.isdigit() else part


def _date(match: Match) -> str | None:
    groups = match.groupdict()
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    said = f"{_number(groups['year'])}年" if groups.get("year") else ""
    said += f"{japanese_number(str(month))}月"
    said += "ついたち" if day == 1 else f"{japanese_number(str(day))}日"
    weekday, holiday = match.groups()[-2:]
    if weekday:
        said += f"（{weekday}曜日{'、祝日' if holiday else ''}）"
    return said


def _slashed_day(match: Match) -> str | None:
    """Return a date such as `12/24に`, but not a fraction such as `3/4は`."""
    is_fraction = int(match["month"]) < int(match["day"]) <= 10
    return None if is_fraction and match.string[match.end()] in "のはが" else _date(match)


def _fraction(match: Match) -> str | None:
    part, whole = match.groups()
    return f"{_number(whole)}分の{_number(part)}" if 0 < int(part) < int(whole) else None


def _neighbours(match: Match) -> str | None:
    """Return a range such as `2〜3日`, which is read にさんにち."""
    first, second = match["first"], match["second"]
    return f"{_number(first)}、{_number(second)}" if int(second) == int(first) + 1 else None


def _time(match: Match) -> str | None:
    hours, minutes, seconds = match.groups()
    if int(hours) > 30:
        return None
    said = f"{japanese_number(str(int(hours)))}時"
    if int(minutes) or seconds:
        said += f"{japanese_number(str(int(minutes)))}分"
    return said + (f"{japanese_number(str(int(seconds)))}秒" if seconds else "")


def _money(match: Match) -> str:
    sign = _SIGN_OF_MONEY.search(match[0])
    assert sign
    minus = "マイナス" if match["minus"] or match["minus2"] else ""
    return minus + _amount(match, _CURRENCIES[sign[0]])


def _amount(match: Match, currency: str) -> str:
    return f"{_number(match['number'])}{match['myriad']}{currency}"


def _equation(match: Match) -> str | None:
    if not regex.search(r"\d", match[0]):
        return None
    said: str = _OPERATOR_OR_NUMBER.sub(
        lambda part: _number(part[0]) if part["number"] else _OPERATORS[part["sign"]],
        match[0].replace("=-", "=マイナス"),
    )
    return said


def _roman(match: Match) -> str | None:
    value = ROMAN.get(match["said"])
    return japanese_number(str(value)) if value else None
