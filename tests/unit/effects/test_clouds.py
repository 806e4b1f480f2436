"""Clouds, Kubernetes, provisioning, forges, hosting, containers: looks, changes, destroys, and the options that mean nothing happens."""

from __future__ import annotations

import pytest
from effect_tables import assert_effects

LOOKS = [
    "aws s3 ls s3://b", "aws ec2 describe-instances", "aws sts get-caller-identity", "aws s3 rm s3://b/x --recursive --dryrun", "aws ec2 terminate-instances help",
    "aws ec2 run-instances --image-id a --dry-run", "aws configure list", "gcloud compute instances list", "gsutil ls gs://b", "az group list -o table", "az deployment group what-if -g x",
    "doctl compute droplet list", "kubectl get pods -A", "kubectl get secrets", "kubectl describe deploy/api", "kubectl delete pod w --dry-run=client -o yaml", "kubectl delete --help",
    "kubectl rollout status deploy/api", "kubectl logs w", "helm template a ./c", "helm uninstall a --dry-run", "helm list", "terraform validate", "terraform plan -destroy", "terraform destroy -help",
    "terraform output", "pulumi preview", "cdk diff", "ansible all -m ping", "ansible-playbook s.yml --check", "vercel env ls", "heroku logs --tail", "gh repo view", "gh api /user",
    "gh api graphql -f query='query{viewer{login}}'", "gh auth status", "glab mr list", "docker ps -a", "docker compose logs api", "docker images", "docker compose down", "docker system df",
    "docker build -t a .", "docker run --rm alpine rm -rf /data", "docker image prune -f", "rclone sync src r:b --dry-run", "restic snapshots", "restic forget --keep-last 1 --dry-run",
]  # fmt: skip
DESTROYS = [
    "aws rds delete-db-instance --db-instance-identifier p", "aws --profile p dynamodb delete-table --table-name t", "aws s3 rb s3://b --force", "aws s3 rm s3://b --recursive",
    "aws s3 sync build s3://b --delete", "aws cloudformation delete-stack --stack-name s", "aws ec2 terminate-instances --instance-ids $(aws ec2 describe-instances)", "gcloud projects delete p --quiet",
    "gcloud beta sql instances delete i", "gsutil -m rm -r gs://b", "gcloud storage rm -r gs://b", "az group delete -n g --yes", "az rest --method delete --url https://x", "doctl compute droplet delete 1",
    "kubectl delete namespace prod", "kubectl -n prod delete pvc d", "kubectl delete pods --all -n p", "kubectl delete -f k8s/ --dry-run=none", "kubectl drain n", "kubectl replace --force -f x.yml",
    "helm uninstall api -n prod", "helm -n prod delete api", "terraform destroy", "terraform apply -destroy -auto-approve", "terraform -chdir=infra destroy", "terraform state rm a.b", "terragrunt run-all destroy",
    "tofu destroy -auto-approve", "pulumi destroy --yes", "pulumi stack rm dev", "cdk destroy", "serverless remove", "heroku pg:reset DATABASE_URL", "heroku apps:destroy a", "fly apps destroy a",
    "firebase firestore:delete --all-collections", "gh repo delete o/r --yes", "gh release delete v1 --yes", "gh api -X DELETE repos/o/r", "gh api repos/o/r -X DELETE",
    "gh api graphql -f query='mutation{deleteRef(input:{refId:\"x\"}){clientMutationId}}'", "glab repo delete x", "docker volume rm d", "docker system prune -af", "docker compose down -v",
    "docker-compose -f p.yml down --volumes", "docker rm -f $(docker ps -aq)", "podman volume prune -f", "restic forget --keep-last 0 --prune", "borg delete r::a", "rclone purge r:x", "virsh undefine vm",
]  # fmt: skip
OTHERS = [
    ("aws ec2 stop-instances --instance-ids i", "infra.apply; no infra.destroy"),
    ("kubectl apply -f k8s/", "infra.apply; file.read ./k8s"),
    ("kubectl scale deploy a --replicas=0", "infra.apply replicas=0"),
    ("terraform apply -auto-approve", "infra.apply auto_approve=1; no infra.destroy"),
    ("aws s3 cp .env s3://b/", "file.read ./.env source_of_copy=1; net.upload"),
    ("aws s3 cp s3://b/x .", "file.write ./x; no net.upload"),
    ("aws secretsmanager get-secret-value --secret-id x", "secret.read store=aws"),
    ("aws ssm get-parameter --name x --with-decryption", "secret.read store=aws"),
    ("aws ssm get-parameter --name x", "no secret.read"),
    ("aws ecr get-login-password | docker login --password-stdin r", "no secret.read"),
    ("gcloud secrets versions access latest --secret=x", "secret.read store=gcloud"),
    ("az keyvault secret show --name x", "secret.read store=az"),
    ("kubectl get secret x -o yaml", "secret.read store=kubectl"),
    ("kubectl get secret/x -o jsonpath='{.data.p}'", "secret.read store=kubectl"),
    ("kubectl get secret x -o name", "no secret.read"),
    ("kubectl config view --raw", "secret.read store=kubectl"),
    ("kubectl exec -it w -- rm -rf /data", "net.remote_exec w via=kubectl; file.delete /data remote=w"),
    ("kubectl cp .env w:/tmp/", "file.read ./.env; net.upload w"),
    ("gcloud compute ssh v --command='rm -rf /data'", "net.remote_exec v; file.delete /data remote=v"),
    ("ansible all -m shell -a 'rm -rf /data'", "net.remote_exec all; file.delete /data remote=all"),
    ("heroku config; railway variables", "secret.read store=heroku; secret.read store=railway"),
    ("gh auth token", "secret.read store=gh"),
    ("gh pr merge 12 --squash --delete-branch", "infra.apply deletes_branch=1"),
    ("gh pr create --fill", "net.upload github.com upload=text; no infra.apply"),
    ("gh gist create --public a.md", "package.publish public=1; file.read ./a.md source_of_copy=1"),
    ("gh release create v1 dist/a.zip", "package.publish v1; file.read ./dist/a.zip"),
    ("gh secret set X < .env", "file.read ./.env"),
    ("kaggle kernels push -p ./kernel", "package.publish; file.read ./kernel"),
    ("docker push r/a:1", "package.publish r/a:1"),
    ("docker build --push -t r/a .", "package.publish r/a"),
    ('docker run --rm -v "$PWD":/w alpine cat /w/.env', "file.read ./.env"),
    ('docker run --rm -v "$PWD":/w -w /w alpine rm -rf build', "file.delete ./build"),
    ("docker run --rm -v /:/host alpine rm -rf /host/home", "file.delete /home; system.privilege /"),
    ("docker run --mount type=bind,source=/etc,target=/e alpine cat /e/shadow", "file.read /etc/shadow; system.privilege /etc"),
    ("docker run -v ~/.ssh:/s:ro alpine ls", "file.read /home/dev/.ssh mount=1; no file.write"),
    ("docker run -v data:/data postgres", "no file.write; no system.privilege"),
    ("docker run --privileged --pid=host alpine sh", "system.privilege --privileged; system.privilege --pid=host"),
    (
        "docker run -v /var/run/docker.sock:/var/run/docker.sock docker:cli docker ps",
        "system.privilege /var/run/docker.sock tool=docker-socket",
    ),
    ("docker run --env-file .env app", "file.read ./.env"),
    ("docker exec app sh -c 'rm -rf /data'", "net.remote_exec app local=1; file.delete /data remote=app"),
    ("docker exec db psql -c 'ALTER TABLE t ADD c int'", "db.write t remote=db"),
    ("docker compose exec app pytest", "net.remote_exec app local=1; no file.delete"),
    ("docker cp .env w:/x", "file.read ./.env source_of_copy=1"),
    ("docker cp w:/x .", "file.write ./x"),
    ("docker rm -f web", "infra.apply web local=1; no infra.destroy"),
    ("docker save app -o build/app.tar", "file.write ./build/app.tar"),
]


@pytest.mark.parametrize("text", LOOKS)
def test_looking_changes_nothing(text: str) -> None:
    assert_effects(text, "no infra.destroy; no infra.apply; no secret.read; no package.publish; no file.delete; no spend.commit")


@pytest.mark.parametrize("text", DESTROYS)
def test_destroying(text: str) -> None:
    assert_effects(text, "infra.destroy")


@pytest.mark.parametrize(("text", "expected"), OTHERS)
def test_effects(text: str, expected: str) -> None:
    assert_effects(text, expected)
