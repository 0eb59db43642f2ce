"""How Mandarin is read aloud. Digits become numerals in characters."""

import unicodedata

import regex

from kokoro_text.numerals import ROMAN, digit_by_digit, mandarin_number
from kokoro_text.reading import Rewriter, table_rule

type Match = regex.Match[str]

_INTEGER = r"(?:\d{1,3}(?:,\d{3}){1,6}(?!\d)|\d{1,40})"
_NUMBER = rf"{_INTEGER}(?:\.\d{{1,40}})?"

_CURRENCIES = {
    "US$": "美元", "HK$": "港元", "NT$": "新台币", "A$": "澳元", "C$": "加元", "¥": "元",
    "$": "美元", "€": "欧元", "£": "英镑", "₩": "韩元", "₹": "卢比", "₽": "卢布",
}  # fmt: skip
_CURRENCY_CODES = {
    "CNY": "人民币", "RMB": "人民币", "USD": "美元", "EUR": "欧元", "GBP": "英镑", "JPY": "日元",
    "HKD": "港元",
}  # fmt: skip
_UNITS = {
    "km/h": "公里每小时", "m/s": "米每秒", "km2": "平方公里", "m2": "平方米", "m3": "立方米",
    "cm2": "平方厘米", "cm3": "立方厘米", "km": "公里", "m": "米", "cm": "厘米", "mm": "毫米",
    "nm": "纳米", "kg": "公斤", "g": "克", "mg": "毫克", "t": "吨", "L": "升", "l": "升",
    "ml": "毫升", "mL": "毫升", "ha": "公顷", "h": "小时", "min": "分钟", "s": "秒", "ms": "毫秒",
    "kWh": "千瓦时", "kW": "千瓦", "W": "瓦", "V": "伏", "A": "安", "mAh": "毫安时", "Hz": "赫兹",
    "kHz": "千赫", "MHz": "兆赫", "GHz": "吉赫", "dB": "分贝", "kcal": "千卡", "cal": "卡",
    "hPa": "百帕", "Pa": "帕", "°C": "摄氏度", "°F": "华氏度", "°": "度",
}  # fmt: skip
_FRACTION_SIGNS = {
    "½": "二分之一",
    "⅓": "三分之一",
    "⅔": "三分之二",
    "¼": "四分之一",
    "¾": "四分之三",
}
_OPERATORS = {
    "=": "等于", "≈": "约等于", "≠": "不等于", "+": "加", "-": "减", "×": "乘以", "*": "乘以",
    "÷": "除以", "/": "除以", "<": "小于", ">": "大于", "≤": "小于等于", "≥": "大于等于",
}  # fmt: skip
_SIGNS = {
    "±": "正负", "&": "和", "%": "百分号", "≈": "约等于", "≥": "大于等于", "≤": "小于等于",
    "+": "加", "→": ",", "※": "", "*": "", "#": "", "~": ",", "～": ",",
}  # fmt: skip
_ADDRESS_SIGNS = {
    "@": "[at](en-us)", ".": "点", "/": "斜杠", "-": "杠", "_": "下划线", ":": "冒号", "?": "问号",
    "=": "等于", "&": "和", "#": "井号", "%": "百分号", "~": "波浪号", "+": "加",
}  # fmt: skip
# Words after which a two is 两. After the others, as in 2楼 and 2月, it is 二.
_MEASURES = (
    "个|位|张|台|条|只|件|本|辆|杯|瓶|斤|公斤|千克|克|吨|米|厘米|毫米|公里|千米|英里|里|升|毫升|年(?!级|代)|天|周"
    "|小时|分钟|秒|元|块|毛|角|万|亿|千|百万|次|遍|家|间|口|支|枝|把|双|对|套|份|种|名|人|岁|倍|项|页|封|层|座"
    "|栋|棵|袋|箱|盒|包|碗|片|颗|粒|首|部|篇|句|声|步|趟|场|顿|节|门|根|头|匹|艘|架|列|道|滴|群|排|组|批|款|代"
    "|星期|礼拜|世纪|国|省|市|县|所|队|方|边|端|面|侧|党|手|类|样|地|成|美元|美金|欧元|港元|日元|英镑|平方|立方"
    "|摄氏度|度|半|集|章|桶|罐|串|束|盘|壶|勺|匙|轮|局|副|幅|株|尾|则|笔|票|单|回|下|季|晚|夜|日元|刻|站|课|客|枚"
    "|磅|瓦|伏|折|档|级台阶|点(?!\\d)"
)
_SERVICE_NUMBERS = "110|119|120|122|114|12306|12315|12345|10086|10010|10000|95588|95533|911|999"
# Numbers that are names, unless a measure follows.
_NAMES = "618|315|520|996|985|211|007"

_ADDRESS = regex.compile(
    r"(?<![A-Za-z\d])(?:https?://|www\.)[A-Za-z\d@.:/?=&#%~+_-]{1,500}"
    r"|(?<![A-Za-z\d.])[A-Za-z\d._+-]{1,64}@[A-Za-z\d.-]{1,190}"
    r"|(?<![A-Za-z\d@.])[A-Za-z\d-]{1,63}(?:\.[A-Za-z\d-]{1,63}){0,5}"
    r"\.(?:com|net|org|io|dev|cn|hk|tw|ai|app)(?:/[A-Za-z\d@.:/?=&#%~+_-]{0,500})?(?![A-Za-z\d])"
)
_DATE = regex.compile(
    r"(?<!\d[/.-]?)(?<year>\d{4})(?:年|(?<sign>[/.-]))\s?(?<month>\d{1,2})(?:月|[/.-])"
    r"(?<day>\d{1,2})(?<end>[日号]|(?![.:/-]?\d))"
)
# 2000年前 is a long time ago, but 1949年后 is after that year.
_YEAR = regex.compile(
    r"(?<!\d\.?)(?:(?<said>[12]\d(?!00)\d\d)\s?(?=年)|(?<said>\d{4})\s?(?=年(?!前|后|来|间|以)))"
)
_YEAR_RANGE = regex.compile(r"(?<!\d\.?)(?<first>\d{4})[-~～—–至到](?<second>\d{4})(?=年)")
_DECADE = regex.compile(r"(?<!\d)(?<said>\d0)(?=后)")
_TIME_RANGE = regex.compile(r"(?<=\d:[0-5]\d)\s?(?<said>[-~～—–])\s?(?=\d{1,2}:[0-5]\d)")
_TIME = regex.compile(r"(?<!\d[:.]?)(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?!:?\d)")
_SCORE = regex.compile(
    r"(?<=以)\s?(?<said>(?<first>\d{1,3}):(?<second>\d{1,3}))(?!:?\d)"
    r"|(?<!\d:?)(?<said>(?<first>\d{1,3}):(?<second>\d{1,3}))(?=的?(?:比分|战胜|击败|领先|落后|获胜))"
)
_RATIO = regex.compile(r"(?<!\d:?)(\d{1,4}):(\d{1,4})(?!:?\d)")
_MOBILE = regex.compile(r"(?<!\d[.,-]?)(?:\+?86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?!-?\d)")
_PHONE = regex.compile(
    r"(?<!\d[.,-]?)(?:\+\d{1,3}[ -]\d{1,4}(?:[ -]\d{2,8}){1,3}|\(?0\d{2,3}[)-]\d{7,8}"
    r"|[48]00-?\d{3}-?\d{4})(?!-?\d)"
)
_SERVICE = regex.compile(
    rf"(?:[打拨]|致电|拨打|电话|热线|客服|号码|联系)(?:是|为|:|\s){{0,2}}(?<said>\d{{3,12}})(?![.,:]?\d)"
    rf"|(?<!\d[.,]?)(?<said>{_SERVICE_NUMBERS})(?=报警|急救|热线|电话)"
    r"|(?<![\dA-Za-z]|\d[.,])(?<said>12306|12315|10086|10010|95\d{3})(?![\d人元个])"
)
_CODE = regex.compile(
    r"(?:验证码|密码|编号|编码|单号|账号|卡号|尾号|学号|工号|代码|邮编|QQ|车牌|房号|ID)(?:[是为:#]|\s){0,2}"
    r"(?<said>[A-Za-z]{0,3}-?\d{3,40})(?![.,:]?\d)"
    r"|(?<![A-Za-z])[A-Z]{1,4}-?(?<said>\d{3,40})(?![.,]?\d)"
    r"|(?<!\d[.,]?)(?<said>\d{3,5})(?=房|号房|室|路(?![上程过])|次列车|航班|次航班|国道)"
)
_NAME = regex.compile(rf"(?<!\d[.,]?|[A-Za-z¥$€£第])(?:{_NAMES})(?!\.?\d|[%°A-Za-z]|{_MEASURES})")
_DOUBLE_DAY = regex.compile(r"(?<=双)(?:10|11|12)(?!\d)")
_RANGE = regex.compile(
    rf"(?<=\d[%°CkgmlL万亿元]{{0,3}}|[年月日号点天])\s?(?<said>[-~～—–])\s?(?=[¥$€£]?-?{_NUMBER}"
    r"(?:\s?[\p{Han}%°]|[A-Za-z]{1,4}(?![A-Za-z]))|\d+之)"
)
_WEEKDAYS = regex.compile(
    r"(?<=周[一-龥]|星期[一-龥])\s?(?<said>[-~～—–])\s?(?=周[一二三四五六日末]|星期)"
)
_EQUATION = regex.compile(
    r"(?<![A-Za-z\d])[\dA-Za-z.()]{1,20}(?:\s?[-+×÷*/]\s?[\dA-Za-z.()]{1,20}){0,8}"
    r"\s?[=≈≠<>≤≥]\s?-?[\dA-Za-z.()]{1,20}(?:\s?[-+×÷*/]\s?[\dA-Za-z.()]{1,20}){0,8}"
)
_OPERATOR_OR_NUMBER = regex.compile(r"(?P<number>\d+(?:\.\d+)?)|(?P<sign>[=≈≠+×÷<>≤≥/*-])")
_DIMENSIONS = regex.compile(r"(?<=\d|[cm]m|厘米|米)\s?(?<said>[×*xX])\s?(?=\d)")
_PLUS = regex.compile(r"(?<=\d)\s?(?<said>[+÷])\s?(?=\d)")
_CURRENCY = "|".join(map(regex.escape, _CURRENCIES))
_MONEY = regex.compile(
    rf"(?<![A-Za-z\d])(?<minus>-?)(?<currency>{_CURRENCY})\s?(?<number>{_NUMBER})(?<myriad>[万亿]{{0,2}})"
    r"(?<unit>元?)"
)
_MONEY_CODE = regex.compile(
    rf"(?<![A-Za-z])(?<minus>)(?<currency>{'|'.join(_CURRENCY_CODES)})\s?(?<number>{_NUMBER})"
    r"(?<myriad>[万亿]{0,2})(?<unit>元?)"
    rf"|(?<minus>)(?<number>{_NUMBER})\s?(?<myriad>[万亿]{{0,2}})(?<currency>{'|'.join(_CURRENCY_CODES)})"
    r"(?<unit>)(?![A-Za-z])"
)
_PERCENT = regex.compile(rf"(?<!\d\.?)(?<minus>[-+]?)(?<number>{_NUMBER})\s?(?<sign>[%‰])")
_PERCENT_RANGE = regex.compile(rf"({_NUMBER})%?[-~～—–]({_NUMBER})%")
_FRACTION = regex.compile(r"(?<!\d[/.]?)(\d{1,3})/(\d{1,3})(?!/?\d)")
_PER = regex.compile(r"(?<=\p{Han}|\d[kcm]?[gmlL])/(?=\p{Han})")
_TEMPERATURE_MINUS = regex.compile(rf"(?<![\dA-Za-z])(?<said>-)(?={_NUMBER}\s?(?:°C|度|摄氏度))")
_MINUS = regex.compile(r"(?<![\dA-Za-z])-(?=\d)")
_UNIT = "|".join(map(regex.escape, sorted(_UNITS, key=len, reverse=True)))
_QUANTITY = regex.compile(rf"(?<!\d\.?)({_NUMBER})\s?({_UNIT})(?![A-Za-z\d])")
_VERSION = regex.compile(r"(?<!\d\.?)\d{1,6}(?:\.\d{1,6}){2,5}(?!\.?\d)")
_TWO_BEFORE_MEASURE = regex.compile(rf"(?<!\d[.:/]?|第)2(?=(?:多)?(?:{_MEASURES}))")
_OCLOCK = regex.compile(r"(?<!\d\.?)(?<hour>\d{1,2})点(?:(?<minute>0?\d{1,2})(?=分|[^\d%.个]|$))?")
_NUMBER_SIGN = regex.compile(r"(?<![A-Za-z])N[Oo]\.\s?(?=\d)")
_ROMAN_NUMERAL = regex.compile(r"(?<![A-Za-z])[IVX]{1,4}(?=[章期级世型类卷部])")
_CIRCLED = regex.compile(r"[①-⑳]")
_PLAIN_NUMBER = regex.compile(_NUMBER)
# What is left if another rule has replaced a part of a number, as in `10:30,200`.
_DIGITS = regex.compile(r"\d+")
_FRACTION_SIGN_RULE = table_rule(_FRACTION_SIGNS)
_SIGN_RULE = table_rule(_SIGNS)


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`.

    The most specific rules come first: an address may contain a date, and a date a range.
    """
    rewriter.rule(_ADDRESS, _address)
    rewriter.rule(_DATE, _date)
    rewriter.rule(_YEAR_RANGE, lambda match: f"{_digits(match[1])}到{_digits(match[2])}")
    rewriter.rule(_YEAR, lambda match: _digits(match["said"]))
    rewriter.rule(_DECADE, lambda match: _digits(match["said"]))
    rewriter.rule(_TIME_RANGE, lambda _: "到")
    rewriter.rule(_SCORE, lambda match: f"{_number(match['first'])}比{_number(match['second'])}")
    rewriter.rule(_TIME, _time)
    rewriter.rule(_RATIO, lambda match: f"{_number(match[1])}比{_number(match[2])}")
    rewriter.rule(_EQUATION, _equation)
    for pattern in (_MOBILE, _PHONE, _SERVICE):
        rewriter.rule(pattern, _phone)
    rewriter.rule(_MONEY_CODE, _money)
    rewriter.rule(_CODE, lambda match: _spelled(match["said"]))
    rewriter.rule(_NAME, lambda match: _digits(match[0]))
    rewriter.rule(_DOUBLE_DAY, lambda match: _number(match[0]))
    rewriter.rule(_PERCENT_RANGE, _percent_range)
    rewriter.rule(_RANGE, lambda _: "到")
    rewriter.rule(_WEEKDAYS, lambda _: "到")
    rewriter.rule(_DIMENSIONS, lambda _: "乘")
    rewriter.rule(_PLUS, lambda match: _OPERATORS[match["said"]])
    rewriter.rule(_MONEY, _money)
    rewriter.rule(_PERCENT, _percent)
    rewriter.rule(_FRACTION, _fraction)
    rewriter.rule(_PER, lambda _: "每")
    rewriter.rule(_TEMPERATURE_MINUS, lambda _: "零下")
    rewriter.rule(_MINUS, lambda _: "负")
    rewriter.rule(_QUANTITY, lambda match: _counted(match[1]) + _UNITS[match[2]])
    rewriter.rule(_VERSION, lambda match: "点".join(map(_number, match[0].split("."))))
    rewriter.rule(_OCLOCK, _oclock)
    rewriter.rule(_TWO_BEFORE_MEASURE, lambda _: "两")
    rewriter.rule(_NUMBER_SIGN, lambda _: "第")
    rewriter.rule(_ROMAN_NUMERAL, _roman)
    rewriter.rule(_CIRCLED, lambda match: mandarin_number(f"{unicodedata.numeric(match[0]):.0f}"))
    rewriter.rule(_PLAIN_NUMBER, lambda match: _number(match[0]))
    rewriter.rule(_DIGITS, lambda match: _number(match[0]))
    rewriter.rule(*_FRACTION_SIGN_RULE)
    rewriter.rule(*_SIGN_RULE)


def _number(written: str) -> str:
    """Return a number in characters: 三点一四 for `3.14`, 一万零五百 for `10,500`."""
    whole, point, fraction = written.replace(",", "").partition(".")
    return mandarin_number(whole) + (f"点{digit_by_digit(fraction, '零')}" if point else "")


def _counted(written: str) -> str:
    """Return a number before a measure, where two is 两."""
    return "两" if written == "2" else _number(written)


def _digits(written: str) -> str:
    return digit_by_digit(written, "零")


def _spelled(written: str) -> str:
    return _digits(written.replace("-", ""))


def _phone(match: Match) -> str:
    """Return the digits of a telephone number, in which one is 幺."""
    groups = regex.findall(r"\d+", match.groupdict().get("said") or match[0])
    return ",".join(digit_by_digit(group, "零", "幺") for group in groups)


def _address(match: Match) -> str:
    address = regex.sub(r"^https?://", "", match[0])
    # A dot at the end belongs to the sentence.
    address, end = (address[:-1], ".") if address.endswith(".") else (address, "")
    parts = regex.findall(r"[A-Za-z]+|\d+|.", address)
    return " ".join(_ADDRESS_SIGNS.get(part, _digits(part)) for part in parts) + end


def _date(match: Match) -> str | None:
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    year = _digits(match["year"])
    return f"{year}年{_number(str(month))}月{_number(str(day))}{match['end'] or '日'}"


def _time(match: Match) -> str | None:
    hours, minutes, seconds = match.groups()
    if int(hours) > 24:
        return None
    said = f"{_counted(str(int(hours)))}点"
    if int(minutes) or seconds:
        said += f"{_minutes(minutes)}分"
    return said + (f"{_number(str(int(seconds)))}秒" if seconds else "")


def _minutes(digits: str) -> str:
    """Return minutes of two digits: 零五 for `05`."""
    return _number(digits)


def _oclock(match: Match) -> str | None:
    """Return a time such as `2点05`. Two points are 两点, too."""
    minute = match["minute"]
    return f"{_counted(match['hour'])}点{_minutes(minute) if minute else ''}"


def _money(match: Match) -> str:
    names = _CURRENCIES | _CURRENCY_CODES
    currency = names[match["currency"]]
    number, myriad = match["number"], match["myriad"]
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    amount = f"{'负' if match['minus'] else ''}{_counted(number)}{myriad}"
    if currency == "人民币":
        return f"人民币{amount}元"
    return amount + currency


def _percent(match: Match) -> str:
    sign = {"-": "负", "+": "正", "": ""}[match["minus"]]
    whole = "百分之" if match["sign"] == "%" else "千分之"
    return sign + whole + ("百" if match["number"] == "100" else _number(match["number"]))


def _percent_range(match: Match) -> str:
    return f"百分之{_number(match[1])}到百分之{_number(match[2])}"


def _fraction(match: Match) -> str | None:
    part, whole = match.groups()
    return f"{_number(whole)}分之{_number(part)}" if 0 < int(part) < int(whole) else None


def _roman(match: Match) -> str | None:
    value = ROMAN.get(match[0])
    return mandarin_number(str(value)) if value else None


def _equation(match: Match) -> str | None:
    if not regex.search(r"\d", match[0]):
        return None
    said: str = _OPERATOR_OR_NUMBER.sub(
        lambda part: _number(part[0]) if part["number"] else _OPERATORS[part["sign"]],
        match[0].replace("=-", "=负"),
    )
    return said
