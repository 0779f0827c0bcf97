"""Languages are told from running text, and not told when unsure."""

# one sentence a line, in its own letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.content.extraction import language

SENTENCES = {
    "en": "We keep the data that you give to us for as long as this is needed by the law of the country you live in.",
    "de": "Wir speichern die Daten, die Sie uns mit der Bestellung geben, und löschen sie, wenn das Gesetz es zulässt.",
    "fr": "Nous gardons les données que vous nous donnez pour la durée qui est prévue par la loi de votre pays.",
    "es": "Guardamos los datos que usted nos da para el pedido y los borramos cuando la ley lo permite en su país.",
    "it": "Conserviamo i dati che il cliente ci fornisce per la durata del contratto e per gli obblighi della legge.",
    "nl": "Wij bewaren de gegevens die u aan ons geeft voor de duur van het contract en zolang dat nodig is.",
    "pt": "Guardamos os dados que o cliente nos fornece para a duração do contrato e não os vendemos a terceiros.",
    "pl": "Przechowujemy dane, które są nam przekazane przez klienta, oraz usuwamy je na żądanie lub po upływie czasu.",
    "sv": "Vi sparar de uppgifter som du ger till oss för att kunna leverera och tar inte betalt för det.",
    "da": "Vi gemmer de oplysninger, som du giver til os, for at kunne levere, og de slettes ikke af os før tid.",
    "fi": "Säilytämme tietoja niin kauan kuin se on tarpeen, ja voimme poistaa ne, jos laki ei sitä estä.",
    "cs": "Údaje, které nám dáte, jsou uloženy na dobu smlouvy a není možné je předat, protože by to bylo v rozporu.",
    "bg": "Ние пазим данните, които ни давате, за срока на договора и не ги предаваме на трети лица, освен по закон.",
    "el": "Διατηρούμε τα δεδομένα που μας δίνετε για όσο χρόνο είναι απαραίτητο από τον νόμο και δεν τα πουλάμε.",
    "ru": "Мы храним данные, которые вы нам передаёте, на срок договора и не передаём их третьим лицам, если это не нужно.",
    "uk": "Ми зберігаємо дані, які ви нам надаєте, на строк договору та не передаємо їх третім особам, якщо це не потрібно.",
    "he": "אנו שומרים את המידע שאתה נותן לנו למשך כל תקופת ההסכם ולא מוכרים אותו.",
    "ar": "نحن نحتفظ بالبيانات التي تقدمها لنا طوال مدة العقد ولا نبيعها إلى أي طرف.",
    "zh": "我们在合同期内保存您提供的信息，不会出售给任何人。",
    "ja": "お客様からいただいた情報は、契約の期間中に保存し、第三者に販売することはありません。",
    "ko": "당사는 고객이 제공한 정보를 계약 기간 동안 보관하며 제삼자에게 판매하지 않습니다.",
    "lt": "Mes saugome duomenis, kuriuos jūs pateikiate, tol, kol tai yra būtina pagal sutartį, ir jų neparduodame.",
    "hu": "Az adatokat, amelyeket Ön megad, a szerződés ideje alatt őrizzük meg, és nem adjuk el, ha ez nem szükséges.",
    "ro": "Păstrăm datele pe care ni le dați pentru durata contractului și nu le vindem, pentru că este interzis de lege.",
}  # fmt: skip


@pytest.mark.parametrize(("name", "sentence"), SENTENCES.items())
def test_one_sentence_tells_the_language(name, sentence):
    assert language.detect(sentence) == name


@pytest.mark.parametrize("text", ["", "   ", "42 17", "Privacy", "ACME GmbH Berlin", "xq zzv brr kkl " * 20])
def test_what_cannot_be_told_is_not_guessed(text):
    assert language.detect(text) is None


def test_two_languages_in_equal_parts_are_not_told():
    assert language.detect(" ".join((SENTENCES["en"], SENTENCES["de"], SENTENCES["de"])) * 5) is None


@pytest.mark.parametrize(
    ("declared", "written", "settled"),
    [
        ("en-US", "en", "en"),
        ("en", "fr", "fr"),
        ("ru", "en", "en"),
        ("ja", "zh", "zh"),
        ("EN_gb", "en", "en"),
        ("nb", "da", "nb"),
        ("sk", "cs", "sk"),
        ("eu", "es", "eu"),
        ("{{lang}}", "de", "de"),
        (None, "pt", "pt"),
    ],
)
def test_a_declared_language_loses_only_when_it_is_plainly_wrong(declared, written, settled):
    assert language.settle(declared, SENTENCES[written] * 3) == settled


def test_a_declared_language_stands_when_the_text_says_nothing():
    assert language.settle("fr-CA", "Contact") == "fr"
    assert language.settle("xx-invalid-☃", "Contact") == "xx"
    assert language.settle(None, "Contact") is None


@given(st.text())
def test_any_text_has_one_answer(text):
    assert language.detect(text) == language.detect(text)
    assert 0 <= language.likelihood(text) <= 1
