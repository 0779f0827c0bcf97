"""What a node's tag, role and names say about it: part of the site, or part of the document."""

import re

from assay.content.extraction.html.tree import Node, named

# Only these can be a part of the site by name: a heading with the identifier "sharing" is a clause.
_CONTAINERS = named(
    "div section aside ul ol menu nav form fieldset header footer dialog details table center search"
)
_SITE_ROLES = named("navigation menu menubar banner contentinfo search toolbar tooltip status alert")
_ROLES_INSIDE = named("navigation menu menubar search toolbar tooltip")

# Consent platforms name their boxes after themselves, the same on every site.
_PLATFORMS = named(
    "onetrust optanon cookiebot cybot didomi truste trustarc quantcast sourcepoint cookieyes cookieconsent "
    "borlabs complianz cmplz klaro tarteaucitron axeptio consentmanager cmpbox"
)
# Of these some also serve policies, so that their name alone says nothing.
_CONSENT = named(
    "cookie cookies consent gdpr ccpa privacy rgpd dsgvo iubenda termly osano usercentrics cookiefirst"
)
_BOX = named(
    "banner bar popup popin modal overlay dialog message prompt alert box layer wall preferences manager "
    "widget toast snackbar notification notice consent drawer disclaimer law panel sticky bottom"
)
_SITE_WORDS = named(
    "nav navbar navigation navigationbar menu menus submenu megamenu breadcrumb breadcrumbs footer foot "
    "sitefooter siteheader topbar toolbar offcanvas drawer hamburger burger share sharing sharebar social "
    "socials addthis sharethis newsletter subscribe signup login signin skip skiplink skiplinks search "
    "searchbar searchform related recommended recommendations promo promotion advert advertisement ads "
    "adsense pagination pager popup modal tooltip toast snackbar cart basket minicart minibasket feedback "
    "helpful vote votes rating comments chat chatbot appstore lang langs locale locales langswitcher"
)
# Within the document only names that say little else.
_SITE_WORDS_INSIDE = named(
    "breadcrumb breadcrumbs share sharing sharebar social socials addthis sharethis newsletter skiplink "
    "skiplinks pagination pager helpful feedback vote votes voting navbar megamenu related recommended "
    "langswitcher"
)
_PICKERS = named("language languages country countries region locale lang currency")
_PICKING = named("switch switcher select selector selection picker chooser dropdown list menu popup toggle")
_DISCLOSURE = named("aria-expanded aria-controls data-toggle data-bs-toggle data-target data-accordion")
_PANELS = named("accordion collapse collapsed collapsible collapsable expander expandable panel tab answer")

_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_HIDDEN_CLASS = re.compile(r"(?:^|\s)(?:[a-z]{1,3}-)?(?:is-hidden|hidden|hide|d-none|display-none)(?:\s|$)")
# Hidden on one screen and shown on another: `hidden md:block`, `d-none d-lg-flex`.
_SHOWN_CLASS = re.compile(
    r"\b(?:xs|sm|md|lg|xl|xxl|desktop|tablet|mobile)[:-](?:block|flex|inline|grid|visible)"
)
_VARIANTS = named("print printable mobile desktop tablet phone handheld visible hidden hide show")


def is_consent_platform(node: Node) -> bool:
    """A cookie banner of a known maker."""
    words = node.words
    return bool(words & _PLATFORMS) and node.tag in _CONTAINERS


def is_consent(node: Node) -> bool:
    """A cookie banner, by the names that such boxes bear."""
    words = node.words
    return is_consent_platform(node) or (bool(words & _CONSENT) and bool(words & _BOX))


def is_dialog(node: Node) -> bool:
    return (
        node.tag == "dialog"
        or "aria-modal" in node.attributes
        or bool(node.roles & {"dialog", "alertdialog"})
    )


def is_site(node: Node) -> bool:
    """Navigation and such, beside the document."""
    if node.tag in {"nav", "search"} or node.roles & _SITE_ROLES:
        return True
    return node.tag in _CONTAINERS and (bool(node.words & _SITE_WORDS) or _is_picker(node))


def is_site_inside(node: Node) -> bool:
    """Navigation and such, within the document."""
    if node.tag in {"nav", "search"} or node.roles & _ROLES_INSIDE:
        return True
    return node.tag in _CONTAINERS and (bool(node.words & _SITE_WORDS_INSIDE) or _is_picker(node))


def is_main(node: Node) -> bool:
    return node.tag in {"main", "article"} or "main" in node.roles


def is_hidden(node: Node) -> bool:
    """Not shown as the page is loaded, as far as markup tells; a script may show it."""
    if "hidden" in node.attributes:
        return node.get("hidden") != "until-found"
    if _HIDDEN_STYLE.search(node.get("style").lower()[:2000]):
        return True
    names = node.get("class").lower()[:1000]
    return bool(_HIDDEN_CLASS.search(names)) and not _SHOWN_CLASS.search(names)


def is_for_screen_readers(node: Node) -> bool:
    words = node.words
    return {"sr", "only"} <= words or {"visually", "hidden"} <= words or "visuallyhidden" in words


def is_variant(node: Node) -> bool:
    """Made for another screen or for paper, so that its text may stand elsewhere too."""
    return bool(node.words & _VARIANTS) or is_hidden(node)


def discloses(button: Node) -> bool:
    """A button that is the title of a panel or a tab."""
    if _DISCLOSURE & button.attributes.keys() or "tab" in button.roles:
        return True
    return bool(button.words & {"accordion", "collapse", "toggle", "faq", "question"})


def is_panel(node: Node) -> bool:
    """What a title opens: hidden until then, and part of the document."""
    if node.headings or node.roles & {"tabpanel", "region"} or node.words & _PANELS:
        return True
    title = node.previous
    if title is None:
        return False
    if title.headings or title.tag in {"summary", "dt", "label"}:
        return True
    return title.chars < 300 and any(part.tag == "button" and discloses(part) for part in title.walk())


def _is_picker(node: Node) -> bool:
    """A chooser of language or country."""
    words = node.words
    return bool(words & _PICKERS) and bool(words & _PICKING)
