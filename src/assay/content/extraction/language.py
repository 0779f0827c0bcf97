# the words of many languages are the matter here
"""Which language a text is in, told by its script and its commonest words."""

import re
from collections import Counter
from functools import cache

_SAMPLE = 3000
_FEWEST_WORDS = 12
# Of all words this share is among a language's commonest in any running text; names and menus stay below.
_FEWEST_HITS = 0.08
_LEAD = 1.4
_WORD = re.compile(r"[^\W\d_]+")
_DECLARED = re.compile(r"\s*([a-zA-Z]{2,3})(?:[-_].*)?\s*", re.DOTALL)
_OLD_NAMES = {"iw": "he", "ji": "yi", "in": "id", "jp": "ja", "cz": "cs", "gr": "el", "ua": "uk", "dk": "da"}
# Names that stand for one written language, or for two that a count of words cannot tell apart.
_ALIKE = ({"no", "nb", "nn", "da"}, {"hr", "bs", "sr", "sh"}, {"cs", "sk"}, {"es", "ca", "gl"}, {"id", "ms"})

_SCRIPTS = {
    "kana": re.compile(r"[\u3041-\u30ff]"),
    "han": re.compile(r"[\u4e00-\u9fff]"),
    "hangul": re.compile(r"[\uac00-\ud7af]"),
    "greek": re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]"),
    "hebrew": re.compile(r"[\u05d0-\u05ea]"),
    "arabic": re.compile(r"[\u0620-\u06ff]"),
    "cyrillic": re.compile(r"[\u0400-\u04ff]"),
    "thai": re.compile(r"[\u0e01-\u0e5b]"),
    "latin": re.compile(r"[A-Za-z\u00c0-\u024f]"),
}
_BY_SCRIPT = {"hangul": "ko", "greek": "el", "hebrew": "he", "thai": "th"}
_PERSIAN = re.compile(r"[\u067e\u0686\u0698\u06af\u06cc]")
_COMMON = {
    "en": "the of and to in or you your for that is by we with this any our are as on not be may from have",
    "de": "der die und den von zu das mit sich des auf für ist im dem nicht ein eine als auch werden wir",
    "fr": "de la le les des et à en du une pour que dans vous par est au sur ou qui votre nous pas sont ce",
    "es": "de la que el en y los del se las por un para con no una su al lo como más o sus usted este",
    "it": "di che la il un per in una con sono non del della dei delle al gli le si nel da alla o ai come e",
    "nl": "de van het een en in is dat op te voor met zijn die aan niet of om door wij uw wordt je ook bij",
    "pt": "de que o a do da em um para com não uma os no se na por mais as dos como ou ao das à seu são você",
    "pl": "w i z na do nie się jest to o że od lub przez dla oraz po jak przy za są które ich może w celu",
    "sv": "och att det i en som är av för på med till den har inte om ett de eller kan vi du din från dina",
    "da": "og at det i en som er af for på med til den har ikke om et de eller kan vi du din fra dine skal",
    "no": "og at det i en som er av for på med til den har ikke om et de eller kan vi du din fra dine skal",
    "fi": "ja on ei se että tai voi sekä ovat olla kun jos mukaan myös tämän joka ole sen kuin niiden voimme",
    "cs": "a v na se je že s z do o k pro by nebo jako jsou není při které byl jeho ve podle může není údajů",
    "sk": "a v na sa je že s z do o k pre by alebo ako sú nie pri ktoré bol jeho vo podľa môže ktorý údajov",
    "sl": "in v na se je da za z so ki pri ali ne s ter po tudi od kot lahko do bo če o teh ima vseh",
    "hr": "i u na se je da za s su koji od ili ne te po kao može do o iz ako koje biti uz što nije svih",
    "lt": "ir yra kad su į iš jūsų ar apie kaip tai bei arba mes jei už nuo per pagal būti gali ne turi",
    "lv": "un ir ka ar uz no par vai kas jūsu mēs lai pie pēc tiek kā var ja šo nav arī tās tikai",
    "et": "ja on ei et kui ning või see mis oma ka meie teie selle võib kes seda kas poolt olla",
    "hu": "a az és hogy nem is egy vagy meg ha ez azt el csak van mint már által szerint amely illetve való",
    "ro": "și de la în a care cu pe pentru din este sau nu că se sunt prin al ale mai o dumneavoastră poate",
    "tr": "ve bir bu için ile da de olarak veya olan gibi daha kadar ne her değil sonra tarafından ise en",
    "ru": "и в на не что с по для или от о как к при это из вы мы вас ваши так его их быть если также может",
    "uk": "і в на не що з для та або від про як до ви ми вас ваші це за також якщо їх його бути може у який",
    "bg": "и на за от в да се с е по не са или при като което които който ги до че ще вашите ние вие със",
    "sr": "и у на се је да за са су који од или не по као може до о из ако које бити уз што није свих",
    "mk": "и на за од во да се со е по не се или при како до дека ќе ние вие овие може биде кои што",
    "el": "και το να του της με σε για την των που από τα τη η ο στο είναι οι θα ή ότι ως σας μας στην",
    "he": "של את על או לא עם זה כל אנו לך כי גם אתה הוא אשר יותר ידי שלך לנו בין אם זו",
    "ar": "في من على أو إلى التي هذا أن لا عن هذه مع ما كان قد الذي أي لك لنا نحن ذلك بك",
}  # fmt: skip
_SIGNS = {
    "zh": re.compile("[的一是不了在有我他这這中人们們和您或以及本于於与與其任何]"),
    "ja": re.compile("[のにはをたがでとしてるれなすまいー]"),
    "ko": re.compile("[이는을의에다가를하고은지로한도및]"),
}
_CYRILLIC = frozenset({"ru", "uk", "bg", "sr", "mk"})


def detect(text: str) -> str | None:
    """The language by its two-letter name; None when the text is too short or too mixed to tell."""
    return _verdict(text)[0]


def settle(declared: str | None, text: str) -> str | None:
    """The declared language, unless the text is plainly in another."""
    match = _DECLARED.fullmatch(declared or "")
    found, weights = _verdict(text)
    if match is None:
        return found
    name = _OLD_NAMES.get(match[1].lower(), match[1].lower())
    if found is None or any({name, found} <= names for names in _ALIKE):
        return name
    known = name in _COMMON or name in _SIGNS
    # A language that we cannot tell is believed; one that we can must be anywhere near.
    return name if not known or weights.get(name, 0) > 0.6 * weights.get(found, 1) else found


def likelihood(text: str) -> float:
    """How much this reads like some language, from 0 to 1: tells a right decoding from a wrong one."""
    return max(_verdict(text)[1].values(), default=0)


def _verdict(text: str) -> tuple[str | None, dict[str, float]]:
    sample = _sample(text)
    signs = Counter(sample).items()
    counts = {name: sum(n for sign, n in signs if of.match(sign)) for name, of in _SCRIPTS.items()}
    script = max(counts, key=lambda name: counts[name])
    letters = sum(counts.values())
    if letters < 10 or counts[script] * 2 < letters:
        # Japanese is written in two scripts, neither of which need be half of it.
        script = "han" if (counts["han"] + counts["kana"]) * 2 > max(letters, 10) else ""
    if script in {"latin", "cyrillic"}:
        return _by_words(sample, cyrillic=script == "cyrillic")
    name = _by_script(script, counts, sample)
    if name in _SIGNS:
        return name, {name: len(_SIGNS[name].findall(sample)) / letters}
    return (name, {name: _by_words(sample)[1].get(name, 0)}) if name else (None, {})


def _sample(text: str) -> str:
    """Its beginning, middle and end: a notice in another language may stand before the text."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = len(text) // 2
    return " ".join((text[:_SAMPLE], text[middle : middle + _SAMPLE], text[-_SAMPLE:]))


def _by_script(script: str, counts: dict[str, int], sample: str) -> str | None:
    if script in {"han", "kana"}:
        return "ja" if counts["kana"] * 10 > counts["han"] else "zh"
    if script == "arabic":
        return "fa" if len(_PERSIAN.findall(sample)) * 30 > counts["arabic"] else "ar"
    return _BY_SCRIPT.get(script)


def _by_words(sample: str, *, cyrillic: bool = False) -> tuple[str | None, dict[str, float]]:
    words = Counter(_WORD.findall(sample.lower()))
    total = words.total()
    weights: dict[str, float] = dict.fromkeys(_COMMON, 0.0)
    for word, languages in _languages().items():
        for language in languages:
            # A word of several languages speaks for each of them less.
            weights[language] += words[word] / total / len(languages) ** 0.5
    ranked = sorted(weights, key=lambda name: (name in _CYRILLIC) == cyrillic and weights[name], reverse=True)
    first, second = ranked[0], ranked[1]
    sure = total >= _FEWEST_WORDS and weights[first] >= _FEWEST_HITS
    clear = weights[first] > _LEAD * weights[second] or any({first, second} <= names for names in _ALIKE)
    return (first if sure and clear and weights[first] > weights[second] else None), weights


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {}
    for language, words in _COMMON.items():
        for word in dict.fromkeys(words.split()):
            result[word] = (*result.get(word, ()), language)
    return result
