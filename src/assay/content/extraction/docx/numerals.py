"""A count as Word prints it: digits, letters, roman, words, and the letters of other scripts."""

from collections.abc import Callable, Mapping

# Word itself stops at these; beyond them a hostile start value would print megabytes.
_MAX_COUNT = 32_767
_MAX_LETTERED = 780

_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINAL_ENDINGS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_HEBREW = tuple(zip((400, 300, 200, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10), "תשרקצפעסנמלכי", strict=True))
_HEBREW_ONES = "אבגדהוזחט"
_CHINESE = "〇一二三四五六七八九"


def numeral(count: int, style: str) -> str:
    """`style` is a `w:numFmt`; one that is not known prints digits, as Word does."""
    if not 0 <= count <= _MAX_COUNT:
        return str(count)
    return _STYLES.get(style, str)(count)


def _roman(count: int) -> str:
    letters = []
    for worth, letter in _ROMAN:
        times, count = divmod(count, worth)
        letters.append(letter * times)
    return "".join(letters) or "0"


def _lettered(alphabet: str) -> Callable[[int], str]:
    """From a to z, then aa, bb: Word repeats a letter where a spreadsheet would count on."""

    def print_letters(count: int) -> str:
        if not 1 <= count <= _MAX_LETTERED:
            return str(count)
        times, index = divmod(count - 1, len(alphabet))
        return alphabet[index] * (times + 1)

    return print_letters


def _cycled(symbols: str) -> Callable[[int], str]:
    """For alphabets that give way to digits once they run out."""

    def print_symbol(count: int) -> str:
        return symbols[count - 1] if 1 <= count <= len(symbols) else str(count)

    return print_symbol


def _ordinal(count: int) -> str:
    teen = 10 <= count % 100 <= 20
    return f"{count}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(count % 10, 'th')}"


def _words(count: int) -> str:
    if count < 20:
        return _ONES[count]
    if count < 100:
        tens, ones = divmod(count, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    for worth, word in ((1000, "thousand"), (100, "hundred")):
        if count >= worth:
            high, low = divmod(count, worth)
            return f"{_words(high)} {word}" + (f" {_words(low)}" if low else "")
    raise AssertionError(count)


def _ordinal_words(count: int) -> str:
    head, space, last = _words(count).rpartition(" ")
    tens, dash, ones = last.rpartition("-")
    if ones in _ORDINAL_ENDINGS:
        ones = _ORDINAL_ENDINGS[ones]
    else:
        ones = f"{ones[:-1]}ieth" if ones.endswith("y") else f"{ones}th"
    return f"{head}{space}{tens}{dash}{ones}"


def _hebrew(count: int) -> str:
    if not 1 <= count < 1000:
        return str(count)
    letters = []
    for worth, letter in _HEBREW:
        if count in {15, 16}:
            break  # written 9+6 and 9+7, since 10+5 and 10+6 begin the Name
        times, count = divmod(count, worth)
        letters.append(letter * times)
    if count in {15, 16}:
        return "".join(letters) + _HEBREW_ONES[8] + _HEBREW_ONES[count - 10]
    return "".join(letters) + (_HEBREW_ONES[count - 1] if count else "")


def _chinese(count: int) -> str:
    if not 1 <= count <= 99:
        return "".join(_CHINESE[int(digit)] for digit in str(count))
    tens, ones = divmod(count, 10)
    high = "" if not tens else ("" if tens == 1 else _CHINESE[tens]) + "十"
    return high + (_CHINESE[ones] if ones else "")


def _chinese_digits(count: int) -> str:
    return "".join(_CHINESE[int(digit)] for digit in str(count))


def _padded(width: int) -> Callable[[int], str]:
    return lambda count: f"{count:0{width}d}"


def _wide(count: int) -> str:
    return "".join(chr(0xFF10 + int(digit)) for digit in str(count))


def _run_from(first: str, length: int, zero: str = "0") -> Callable[[int], str]:
    """Encircled numbers and their like, which Unicode has only so many of."""

    def print_enclosed(count: int) -> str:
        if 1 <= count <= length:
            return chr(ord(first) + count - 1)
        return zero if count == 0 else str(count)

    return print_enclosed


_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_STYLES: Mapping[str, Callable[[int], str]] = {
    "decimal": str,
    "none": lambda _: "",
    "bullet": lambda _: "",
    "upperRoman": lambda count: _roman(count).upper(),
    "lowerRoman": _roman,
    "upperLetter": _lettered(_LATIN.upper()),
    "lowerLetter": _lettered(_LATIN),
    "ordinal": _ordinal,
    "cardinalText": lambda count: _words(count).capitalize(),
    "ordinalText": lambda count: _ordinal_words(count).capitalize(),
    "decimalZero": _padded(2),
    "numberInDash": lambda count: f"- {count} -",
    "hex": lambda count: f"{count:X}",
    "chicago": _lettered("*†‡§"),
    "russianLower": _lettered(_RUSSIAN),
    "russianUpper": _lettered(_RUSSIAN.upper()),
    "hebrew1": _hebrew,
    "hebrew2": _lettered("אבגדהוזחטיכלמנסעפצקרשת"),
    "arabicAlpha": _lettered("أبتثجحخدذرزسشصضطظعغفقكلمنهوي"),
    "arabicAbjad": _lettered("أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"),
    "thaiLetters": _lettered("กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ"),
    "hindiConsonants": _lettered("कखगघङचछजझञटठडढणतथदधनपफबभमयरलवशषसह"),
    "decimalFullWidth": _wide,
    "decimalFullWidth2": _wide,
    "decimalEnclosedCircle": _run_from("①", 20, "⓪"),
    "decimalEnclosedCircleChinese": _run_from("①", 20, "⓪"),
    "ideographEnclosedCircle": _run_from("㊀", 10),
    "decimalEnclosedParen": _run_from("⑴", 20),
    "decimalEnclosedFullstop": _run_from("⒈", 20),
    "ideographDigital": _chinese_digits,
    "japaneseDigitalTenThousand": _chinese_digits,
    "taiwaneseDigital": _chinese_digits,
    "chineseCounting": _chinese,
    "chineseCountingThousand": _chinese,
    "japaneseCounting": _chinese,
    "taiwaneseCounting": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "koreanDigital2": _chinese_digits,
    "ideographTraditional": _cycled("甲乙丙丁戊己庚辛壬癸"),
    "ideographZodiac": _cycled("子丑寅卯辰巳午未申酉戌亥"),
    "aiueoFullWidth": _cycled(
        "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
    ),
    "irohaFullWidth": _cycled(
        "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
    ),
    "ganada": _cycled("가나다라마바사아자차카타파하"),
    "chosung": _cycled("ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"),
}
