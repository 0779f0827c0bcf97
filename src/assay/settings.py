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


class LimitSettings(Section):
    json_bytes: Positive = Field(1 * MIB, description="A JSON body.")
    header_count: Positive = Field(100, description="Headers of a request.")
    header_bytes: Positive = Field(32 * 1024, description="Headers of a request, together.")
    header_seconds: PositiveSeconds = Field(15.0, description="Until a request's headers must have come.")
    token_bytes: Positive = Field(16 * 1024, description="An access token.")
    login_failures_per_user: Positive = Field(10, description="Failed logins of one user in five minutes.")
    login_failures_per_address: Positive = Field(
        60, description="Failed logins from one address in five minutes."
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
    limits: LimitSettings = LimitSettings()
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
