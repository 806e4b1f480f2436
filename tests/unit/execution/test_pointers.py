"""Where cluster and cloud tools point, read from their own small files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from instinct_shell.execution.facts import HostFacts
from instinct_shell.execution.pointers import selected
from instinct_shell.model.fact import Question, QuestionKind
from instinct_shell.model.situation import Situation
from instinct_shell.storage.profiles import ProfileStore

KUBE = """apiVersion: v1
clusters:
- cluster: {server: https://10.0.0.1}
  name: eu-prod-cluster
contexts:
- context:
    cluster: kind
    user: dev
  name: kind-dev
- name: acme
  context:
    cluster: eu-prod-cluster
    namespace: shop
    user: dev
current-context: acme
kind: Config
users:
- name: dev
  user: {token: secret}
"""


@pytest.mark.parametrize(
    ("tool", "files", "place"),
    [
        ("kube", {"": KUBE}, "acme eu-prod-cluster shop"),
        ("kube", {"": KUBE.replace("current-context: acme", "current-context: kind-dev")}, "kind-dev kind"),
        ("kube", {"": "current-context: 'gke_acme-prod_x'\n"}, "gke_acme-prod_x"),
        ("kube", {"": "contexts: [\n"}, ""),
        ("kube", {}, ""),
        ("terraform", {"/.terraform/environment": "prod"}, "prod"),
        ("terraform", {"/.terraform/environment": "default"}, ""),
        ("terraform", {"/.terraform/terraform.tfstate": json.dumps({"backend": {"config": {"bucket": "acme-tf", "key": "prod/net"}}})}, "acme-tf prod/net"),
        ("terraform", {"/.terraform/terraform.tfstate": json.dumps({"backend": {"config": {"workspaces": [{"name": "net-prod"}]}}})}, "net-prod"),
        ("terraform", {"/.terraform/terraform.tfstate": "{"}, ""),
        ("gcloud", {"/active_config": "work\n", "/configurations/config_work": "[core]\nproject = acme-prod\n"}, "work acme-prod"),
        ("gcloud", {"/active_config": "../../etc\n"}, "../../etc"),
        ("docker", {"": '{"currentContext": "prod-1"}'}, "prod-1"),
        ("docker", {"": '{"currentContext": 3}'}, ""),
        ("docker", {"": "[]"}, ""),
        ("nothing", {}, ""),
    ],
)
def test_selected(tool: str, files: dict[str, str], place: str) -> None:
    assert selected(tool, "/p", lambda name: files.get(name.removeprefix("/p"), "")) == place


def test_facts_open_only_what_the_command_could_read(tmp_path: Path) -> None:
    workspace, home = tmp_path / "w", tmp_path / "home"
    (workspace / ".terraform").mkdir(parents=True)
    (workspace / ".terraform" / "environment").write_text("prod")
    (home / ".kube").mkdir(parents=True)
    (home / ".kube" / "config").write_text("current-context: prod\n")
    (workspace / "kubeconfig.yaml").write_text("current-context: prod\n")
    profile = ProfileStore(home="/nonexistent", cache=False).load("dev", "", {})
    facts = HostFacts(profile, Situation(home=str(home), workspace=str(workspace)), deadline_ms=5_000)

    def asked(subject: str) -> object:
        question = Question(QuestionKind.PLACE, subject)
        return facts.answer([question])[question].get("place")

    assert asked(f"terraform {workspace}") == "prod"
    assert asked(f"kube {workspace}/kubeconfig.yaml") == "prod"
    assert asked(f"kube {home}/.kube/config") == ""  # a secret of the person, masked in the jail
