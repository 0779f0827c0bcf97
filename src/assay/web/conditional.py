"""ETags: how a client asks whether what it has is still what there is."""


def quoted(value: str) -> str:
    return f'"{value}"'


def matches(if_none_match: str | None, etag: str) -> bool:
    """Whether one of the tags that the client sent is this one (weak comparison, RFC 9110)."""
    if if_none_match is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in tags or etag in tags
