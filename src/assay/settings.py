"""Every knob of the service: typed, grouped, documented. `ASSAY_` in front, `__` between section and name."""

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AnyHttpUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    IPvAnyNetwork,
    SecretStr,
    ValidationError,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

PREFIX = "ASSAY_"

# Read by the Makefile and the measuring scripts, not by the service.
_NOT_OURS = {"ASSAY_EVAL_DIR"}


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Networks = Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(_split)]
Positive = Annotated[int, Field(gt=0)]
PositiveSeconds = Annotated[float, Field(gt=0)]

MIB = 2**20


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DatabaseSettings(Section):
    url: SecretStr | None = Field(
        None, description="`postgresql://…` for many machines; by default SQLite in the data directory."
    )
    pool_size: Positive = Field(16, description="Connections kept open by each process.")
    timeout_seconds: PositiveSeconds = Field(
        2.0, description="How long to wait for a connection or a lock before answering 503."
    )


class IdentitySettings(Section):
    issuer: str | None = Field(
        None, description="The `iss` of an external OIDC provider. Set, it turns the embedded provider off."
    )
    jwks_url: AnyHttpUrl | None = Field(
        None, description="Where the provider publishes its keys; by default found by its discovery document."
    )
    audience: Names = Field((), description="Accepted values of `aud`; empty accepts any.")
    clients: Names = Field((), description="Accepted clients (`azp` or `client_id`); empty accepts any.")
    subject_claim: str = Field("sub", description="The claim that holds the partner's uuid.")
    scope_claims: Names = Field(("scope", "scp"), description="Claims that hold scopes, as words or a list.")
    role_claims: Names = Field(
        ("realm_access.roles", "resource_access.{client}.roles"),
        description="Claims that hold roles; `{client}` stands for the audience, the clients and `azp`.",
    )
    full_access: Names = Field(("partner",), description="Scopes or roles that grant every operation.")


class BlobSettings(Section):
    url: str | None = Field(
        None, description="`s3://…`, `gs://…` or `az://…`; by default a folder in the data directory."
    )
    options: dict[str, str] = Field(
        {}, description="What the bucket needs besides its URL, as JSON: credentials, region, endpoint."
    )


class JobSettings(Section):
    workers: Annotated[int, Field(ge=0)] = Field(
        0, description="Jobs that one process does at a time; 0 for as many as the machine has cores."
    )
    running_per_partner: Positive = Field(4, description="Jobs of one partner that run at a time.")
    running_in_all: Positive = Field(64, description="Jobs that run at a time, on all machines.")
    lease_seconds: PositiveSeconds = Field(
        15.0, description="After how long the work of a dead worker is taken over."
    )
    metrics_port: Annotated[int, Field(ge=0, le=65535)] = Field(
        0, description="Where `assay work` serves `/metrics`, on ASSAY_HOST; 0 for nowhere."
    )
    attempts: Positive = Field(3, description="How often a job is tried before it has failed.")


class FetchSettings(Section):
    allow: str = Field(
        "", description="`host:port,…` that may be fetched although they are private: tests, intranets."
    )


class FrameworkSettings(Section):
    folder: Path | None = Field(
        None, description="A folder of framework files that every start takes into the catalogue."
    )


class LimitSettings(Section):
    file_bytes: Positive = Field(50 * MIB, description="An uploaded file.")
    pages: Positive = Field(5_000, description="Pages of a document.")
    text_bytes: Positive = Field(20_000_000, description="The text of a document.")
    docx_bytes: Positive = Field(500 * MIB, description="A DOCX, uncompressed.")
    processing_seconds: PositiveSeconds = Field(120.0, description="Reading a document.")
    processing_memory_bytes: Positive = Field(1024 * MIB, description="Memory for reading a document.")
    batch_identifiers: Positive = Field(1_000, description="Identifiers of a batch status request.")
    url_characters: Positive = Field(2_048, description="The address of a page.")
    download_bytes: Positive = Field(20 * MIB, description="A page, on the wire and decoded.")
    download_seconds: PositiveSeconds = Field(30.0, description="A download, from look-up to the last byte.")
    redirects: Annotated[int, Field(ge=0)] = Field(5, description="Redirects that are followed.")
    assessment_sources: Positive = Field(50, description="Sources of an assessment.")
    assessment_bytes: Positive = Field(500 * MIB, description="Documents of a submission, together.")
    assessment_criteria: Positive = Field(1_000, description="Criteria of an assessment.")
    feedback_bytes: Positive = Field(64 * 1024, description="A text of an expert's feedback.")
    upload_idle_seconds: PositiveSeconds = Field(30.0, description="How long an upload may stall.")
    waits_per_partner: Positive = Field(32, description="Requests of one partner that wait (`Prefer: wait`).")
    json_bytes: Positive = Field(1 * MIB, description="A JSON body.")
    header_count: Positive = Field(100, description="Headers of a request.")
    header_bytes: Positive = Field(32 * 1024, description="Headers of a request, together.")
    header_seconds: PositiveSeconds = Field(15.0, description="Until a request's headers must have come.")
    token_bytes: Positive = Field(16 * 1024, description="An access token.")
    login_failures_per_user: Positive = Field(10, description="Failed logins of one user in five minutes.")
    login_failures_per_address: Positive = Field(
        60, description="Failed logins from one address in five minutes."
    )


class RateSettings(Section):
    requests_per_minute: Positive = Field(
        60_000, description="Requests of one partner in a minute, counted by each process."
    )
    submissions_per_minute: Positive = Field(
        6_000, description="Those of them that create work: documents, addresses, refreshes, assessments."
    )


class AuditSettings(Section):
    reads: bool = Field(
        default=True, description="Whether reading a text or results leaves an audit entry too."
    )


class RetentionSettings(Section):
    days: Positive | None = Field(
        None, description="Erase what has not changed for so many days; by default nothing is."
    )


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = Field("info", description="What is worth a line.")
    format: Literal["json", "console"] = Field("json", description="Lines for machines or for people.")


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="ignore", env_ignore_empty=True
    )

    host: str = Field("127.0.0.1", description="The address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="The port to listen on; 0 takes a free one.")
    data_dir: Path = Field(Path("data"), description="Where everything is kept on one machine.")
    public_url: AnyHttpUrl | None = Field(
        None, description="How clients reach the service; put in front of every `Location`."
    )
    gateway: Literal["embedded", "external"] = Field(
        "embedded", description="Who sets IDP_SUBJECT: the service itself, or a gateway in front of it."
    )
    trusted_proxies: Networks = Field(
        (), description="Peers (addresses or networks) whose `X-Forwarded-For` is believed."
    )
    database: DatabaseSettings = DatabaseSettings()
    identity: IdentitySettings = IdentitySettings()
    blobs: BlobSettings = BlobSettings()
    jobs: JobSettings = JobSettings()
    fetch: FetchSettings = FetchSettings()
    frameworks: FrameworkSettings = FrameworkSettings()
    limits: LimitSettings = LimitSettings()
    rate: RateSettings = RateSettings()
    audit: AuditSettings = AuditSettings()
    retention: RetentionSettings = RetentionSettings()
    logs: LogSettings = LogSettings()

    @property
    def base_url(self) -> str:
        """The public address without a slash at its end; the listening address where none is set."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return str(self.public_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def location_prefix(self) -> str:
        """What stands before the path in a `Location` header."""
        return str(self.public_url).rstrip("/") if self.public_url else ""


class WrongSetting(Exception):
    """A setting has a value that cannot be used; the message is a sentence that says which."""


def load(**overrides: Any) -> Settings:
    """Settings from the environment; what is given here and not None wins."""
    try:
        return Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        raise WrongSetting(" ".join(_sentence(problem) for problem in error.errors())) from None


def _sentence(problem: Mapping[str, Any]) -> str:
    name = PREFIX + "__".join(str(part).upper() for part in problem["loc"] if isinstance(part, str))
    if problem["type"] == "extra_forbidden":
        return f"{name} is not a setting.{_suggestion(name)}"
    return f"{name} is wrong: {problem['msg'].lower().removeprefix('value error, ')}."


def describe() -> Iterator[tuple[str, str, str]]:
    """Every setting as (environment name, default, description), in the order of this file."""
    yield from _describe(Settings, PREFIX)


def _describe(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from _describe(field.annotation, f"{prefix}{name.upper()}__")
        else:
            yield prefix + name.upper(), _shown(field.default), field.description or ""


def _shown(default: object) -> str:
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return "" if default is None else str(default)


def unknown(environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence for each variable that looks like a setting and is none."""
    known = {name for name, _, _ in describe()} | _NOT_OURS
    strangers = sorted(name for name in environment if name.startswith(PREFIX) and name not in known)
    return [f"{name} is not a setting.{_suggestion(name)}" for name in strangers]


def _suggestion(name: str) -> str:
    near = difflib.get_close_matches(name, [known for known, _, _ in describe()], n=1)
    return f" Did you mean {near[0]}?" if near else ""
