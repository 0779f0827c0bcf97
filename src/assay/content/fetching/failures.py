"""Why a URL could not be downloaded, as a tree. Every class is a failure that a job may store.

Unfetchable                  an UnreadableDocument; `transient` says whether trying again may help
├── InvalidUrl               never to be asked: scheme, host, port, length, credentials
│   └── ForbiddenAddress     … it leads to an address that is not open to this service
├── HostNotFound             the name has no address
│   └── LookUpFailed         … for now (transient)
├── Unreachable              no connection, or no secure one (transient)
├── BrokenOff                the connection ended too early (transient)
├── TookTooLong              the deadline over everything has passed (transient)
├── UntrustedCertificate     TLS, but not with whom the URL names
├── GarbledAnswer            not HTTP, or not as declared
├── UnknownEncoding          a content encoding that is not ours
├── DownloadTooLarge         on the wire or decoded
├── RedirectsWithoutEnd      too many, or in a circle
├── RefusedByServer          a status that is not a document
│   └── ServerInTrouble      … and may be one later (transient)
└── FetchCancelled           somebody asked to stop
"""

from typing import ClassVar

from assay.content.models import UnreadableDocument


class Unfetchable(UnreadableDocument):
    """The address could not be downloaded."""

    transient: ClassVar[bool] = False


class InvalidUrl(Unfetchable):
    """The URL is not one that can be fetched."""


class ForbiddenAddress(InvalidUrl):
    """The URL leads to an address that is not open to this service."""


class HostNotFound(Unfetchable):
    """The host that the URL names does not exist."""


class LookUpFailed(HostNotFound):
    """The host that the URL names could not be looked up."""

    transient = True


class Unreachable(Unfetchable):
    """No connection to the address could be made."""

    transient = True


class BrokenOff(Unfetchable):
    """The address broke off the connection before its answer was complete."""

    transient = True


class TookTooLong(Unfetchable):
    """The download took longer than is allowed."""

    transient = True


class UntrustedCertificate(Unfetchable):
    """The address could not prove by a valid certificate that it is the host that the URL names."""


class GarbledAnswer(Unfetchable):
    """The address did not answer in proper HTTP."""


class UnknownEncoding(Unfetchable):
    """The address answered in a content encoding that is not supported."""


class DownloadTooLarge(Unfetchable):
    """The download is larger than is allowed."""


class RedirectsWithoutEnd(Unfetchable):
    """The address redirects without end."""


class RefusedByServer(Unfetchable):
    """The address did not answer with a document."""


class ServerInTrouble(RefusedByServer):
    """The address could not answer with a document for now."""

    transient = True


class FetchCancelled(Unfetchable):
    """The download was cancelled."""
