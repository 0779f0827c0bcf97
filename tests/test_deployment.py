"""What stands in Dockerfile, compose.yaml and the manifests fits the command, the settings and itself."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import typer
import yaml

from assay import __version__, cli, settings
from tests import gateways

ROOT = Path(__file__).parents[1]
KUBERNETES = ROOT / "deploy" / "kubernetes"
SETTINGS = {name for name, _, _ in settings.describe()}
COMMANDS = typer.main.get_command(cli.app).commands
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


def instructions():
    """The Dockerfile, as (instruction, rest) with continued lines joined and comments left out."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n", " ", text).splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def said(instruction):
    return [rest for name, rest in instructions() if name == instruction]


DOCKER_ENV = dict(re.findall(r"(\w+)=(\S+)", " ".join(said("ENV"))))
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if "build" in service}
MANIFESTS = [
    manifest
    for file in sorted(KUBERNETES.iterdir())
    for manifest in yaml.safe_load_all(file.read_text())
]  # fmt: skip


def manifests(kind):
    return {one["metadata"]["name"]: one for one in MANIFESTS if one["kind"] == kind}


def containers():
    """Each container of a manifest, by the name of what it belongs to."""
    pods = {**manifests("Deployment"), **manifests("Job")}
    return {name: one["spec"]["template"]["spec"]["containers"][0] for name, one in pods.items()}


def told():
    """Every environment that a process of ours is given, by where it stands."""
    given = {"Dockerfile": DOCKER_ENV}
    given |= {f"compose {name}": service["environment"] for name, service in OURS.items()}
    given |= {f"ConfigMap {name}": one["data"] for name, one in manifests("ConfigMap").items()}
    given |= {f"Secret {name}": one["stringData"] for name, one in manifests("Secret").items()}
    return given


def filled(value):
    """With every `${NAME…}` of compose filled in."""
    value = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
    return re.sub(r"\$\{\w+:\?[^}]*\}", "filled-in", value)


def started():
    """Every command line that is given to the image, by where it stands."""
    lines = {"Dockerfile": json.loads(said("CMD")[0])}
    lines |= {f"compose {name}": service["command"] for name, service in OURS.items()}
    return lines | {f"manifest {name}": one["args"] for name, one in containers().items()}


@pytest.mark.parametrize("where", sorted(started()))
def test_every_role_is_a_command_with_the_options_that_it_has(where):
    command, *rest = started()[where]
    options = {name for parameter in COMMANDS[command].params for name in parameter.opts}
    assert {word for word in rest if word.startswith("-")} <= options


def test_the_image_starts_the_command_under_an_init():
    assert json.loads(said("ENTRYPOINT")[0]) == ["tini", "--", "assay"]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert "assay" in scripts


@pytest.mark.parametrize("where", sorted(told()))
def test_every_setting_that_is_given_exists(where):
    names = {name for name in told()[where] if name.startswith(settings.PREFIX)}
    assert names
    assert names <= SETTINGS


@pytest.mark.parametrize("where", sorted(told()))
def test_every_value_that_is_given_is_one_that_the_service_takes(where, monkeypatch):
    for name, value in told()[where].items():
        monkeypatch.setenv(name, filled(value))
    assert settings.load().port == 8080


def test_ports_agree():
    port = DOCKER_ENV["ASSAY_PORT"]
    config = manifests("ConfigMap")["assay"]["data"]
    assert said("EXPOSE") == [port]
    assert f"127.0.0.1:{port}/livez" in said("HEALTHCHECK")[0]
    assert OURS["api"]["expose"] == [port]
    assert config["ASSAY_PORT"] == port
    assert f"server api:{port};" in (ROOT / "deploy/compose/nginx.conf").read_text()

    worker = OURS["worker"]
    assert worker["expose"] == [worker["environment"]["ASSAY_JOBS__METRICS_PORT"]]
    opened = {name: one["ports"][0] for name, one in containers().items() if "ports" in one}
    assert str(opened["assay-api"]["containerPort"]) == port
    assert str(opened["assay-worker"]["containerPort"]) == config["ASSAY_JOBS__METRICS_PORT"]
    assert manifests("Service")["assay"]["spec"]["ports"][0]["targetPort"] == opened["assay-api"]["name"]


def test_probes_ask_for_what_there_is(anonymous):
    api = containers()["assay-api"]
    asked = [api[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")]
    assert asked == ["/readyz", "/livez"]
    assert [anonymous.get(path).status_code for path in asked] == [200, 200]


def test_what_is_scraped_is_the_port_that_is_open():
    for name, one in manifests("Deployment").items():
        notes = one["spec"]["template"]["metadata"]["annotations"]
        assert notes["prometheus.io/port"] == str(containers()[name]["ports"][0]["containerPort"])
        assert notes["prometheus.io/path"] == "/metrics"


def test_selectors_find_their_pods():
    labels = {
        name: one["spec"]["template"]["metadata"]["labels"] for name, one in manifests("Deployment").items()
    }
    for name, one in manifests("Deployment").items():
        assert one["spec"]["selector"]["matchLabels"] == labels[name]
    for name, one in manifests("PodDisruptionBudget").items():
        assert one["spec"]["selector"]["matchLabels"] == labels[name]
    assert manifests("Service")["assay"]["spec"]["selector"] == labels["assay-api"]


def test_a_pod_is_told_all_that_there_is():
    for one in containers().values():
        sources = {kind: source["name"] for entry in one["envFrom"] for kind, source in entry.items()}
        assert sources == {"configMapRef": "assay", "secretRef": "assay"}


def test_as_many_of_each_role_as_the_pages_say():
    assert {name: OURS[name]["deploy"]["replicas"] for name in ("api", "worker")} == {"api": 2, "worker": 3}
    replicas = {name: one["spec"]["replicas"] for name, one in manifests("Deployment").items()}
    assert replicas == {"assay-api": 2, "assay-worker": 3}


def test_images_are_pinned():
    foreign = {service["image"] for service in COMPOSE["services"].values() if "build" not in service}
    for image in {*foreign, *said("FROM")}:
        assert re.fullmatch(r"[^:]+:\S*\d\S*", image), image
        assert not image.endswith("latest")
    for one in containers().values():
        assert one["image"].endswith(f":{__version__}")


def test_nothing_runs_as_root_or_may_become_it():
    user = re.search(r"--uid (\d+)", " ".join(said("RUN"))).group(1)
    assert said("USER") == [f"{user}:{user}"]
    for name, one in {**manifests("Deployment"), **manifests("Job")}.items():
        pod = one["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsUser"] == int(user)
        rights = containers()[name]["securityContext"]
        assert (rights["allowPrivilegeEscalation"], rights["capabilities"]) == (False, {"drop": ["ALL"]})
    for service in OURS.values():
        assert (service["cap_drop"], service["read_only"]) == (["ALL"], True)


def test_a_stop_leaves_the_time_to_drain():
    assert all(service["stop_grace_period"] == "20s" for service in OURS.values())
    for one in manifests("Deployment").values():
        assert one["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= 20


def test_a_worker_has_the_memory_of_what_it_reads_at_a_time():
    worker = containers()["assay-worker"]
    concurrency = int(worker["args"][worker["args"].index("--concurrency") + 1])
    needed = concurrency * settings.LimitSettings().processing_memory_bytes
    assert int(worker["resources"]["limits"]["memory"].removesuffix("Gi")) * 2**30 > needed


def test_no_file_holds_a_secret():
    for service in COMPOSE["services"].values():
        for name, value in (service.get("environment") or {}).items():
            if re.search(r"PASSWORD|SECRET|DATABASE__URL|OPTIONS", name):
                assert re.search(r"\$\{\w+:\?", value), name
    for value in manifests("Secret")["assay"]["stringData"].values():
        assert re.search(r"<\w+>", value)
    assert not {name for name in manifests("ConfigMap")["assay"]["data"] if "DATABASE" in name}
    example = (ROOT / "deploy/compose/env.example").read_text()
    assert re.findall(r"^\w*PASSWORD=(.*)$", example, re.MULTILINE) == ["", "", ""]


def test_everything_that_compose_asks_of_the_operator_is_in_the_example():
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    example = (ROOT / "deploy/compose/env.example").read_text()
    assert asked == set(re.findall(r"^(\w+)=", example, re.MULTILINE))


def test_kubectl_does_not_take_the_secrets_template_for_a_manifest():
    [template] = [file for file in KUBERNETES.iterdir() if "kind: Secret" in file.read_text()]
    assert template.suffix not in {".yaml", ".yml", ".json"}


def test_the_gateway_is_that_of_its_page():
    config = gateways.block("gateway-nginx.md", "nginx")
    realms = "client_max_body_size 64k;\n            proxy_pass http://"
    for old, new in {
        "127.0.0.1:8080": "api:8080",
        "assay.example.com": "localhost",
        f"{realms}assay;": f"{realms}keycloak:8080;",
    }.items():
        assert config.count(old) == 1
        config = config.replace(old, new)
    assert (ROOT / "deploy/compose/nginx.conf").read_text() == config


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_takes_the_configuration(tmp_path):
    gateways._certify(tmp_path)
    config = (ROOT / "deploy/compose/nginx.conf").read_text()
    for old, new in {
        "/etc/nginx/assay": str(tmp_path),
        "/run/nginx.pid": str(tmp_path / "pid"),
        "api:8080": "127.0.0.1:8080",
        "keycloak:8080": "127.0.0.1:8081",
    }.items():
        config = config.replace(old, new)
    (tmp_path / "nginx.conf").write_text(config)
    tried = subprocess.run(
        ["nginx", "-t", "-c", tmp_path / "nginx.conf"], capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stderr


def test_the_image_is_built_of_what_the_ignore_file_lets_through():
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    let_through = {line[1:] for line in lines if line.startswith("!")}
    copied = {word.removeprefix("./") for rest in said("COPY") for word in rest.split()[:-1]}
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)


def pinned(file):
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / file).read_text(), re.MULTILINE))


def test_the_image_installs_by_hash_all_that_the_roles_need():
    [lock] = re.findall(r"--require-hashes -r (\S+)", " ".join(said("RUN")))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["postgres"],
        *project["dependency-groups"]["build"],
    ]
    names = {NAME.match(one).group().lower().replace("_", "-") for one in needed}
    assert names <= {name.lower().replace("_", "-") for name in pinned(lock)}


def test_what_is_tested_is_what_the_image_installs():
    image, tested = pinned("requirements-postgres.lock"), pinned("requirements-dev.lock")
    assert {name: tested.get(name) for name in image} == image
    assert "http" not in re.sub(r"\bhttp[\w-]*==", "", (ROOT / "requirements-postgres.lock").read_text())
