"""Which names a place holds, and what they mean."""

from __future__ import annotations

import pytest

from instinct_shell.instincts.places import development_name, is_local, names_in, production_name

PRODUCTION = [
    "prod", "PROD", "$PROD_URL", "${PROD_DB}", "prod-db", "prod_db", "prod1", "eu-prod", "eu_prod_1", "app_production", "production",
    "postgres://u:p@prod-db.example.com:5432/app", "postgres://u:p@db.prod.example.com/app", "postgresql://db.internal/app_prod",
    "jdbc:postgresql://prod-db/app", "mysql://db/app?schema=prod", "deploy@prod.example.com", "deploy@prod.example.com:/srv", "live",
    "RAILS_ENV=production", "DB_HOST=db.prod.example.com RAILS_ENV=development", "mongodb://a1,prod-2.example.com/app", "redis://$PROD_HOST:6379",
    "arn:aws:eks:eu-west-1:1:cluster/acme-prod", "gke_acme-prod_europe_main", "prd-eu",
]  # fmt: skip
OTHER = [
    "", "products", "https://products.example.com", "product_db", "reproduction", "git@product.example.com", "production2d", "livestream", "delivery",
    "olive", "postgres://localhost/app_dev", "NODE_ENV=production", "BUILD_ENV=prod", "staging", "127.0.0.1", "/srv/work/app", "eu-west-1",
]  # fmt: skip


@pytest.mark.parametrize("text", PRODUCTION)
def test_production(dev, text):
    assert production_name(dev, text)
    assert not development_name(dev, text)


@pytest.mark.parametrize("text", OTHER)
def test_not_production(dev, text):
    assert production_name(dev, text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "postgres://localhost/app", "postgres://app@127.0.0.1:5432/app", "postgres://db:5432/app_test", "DATABASE_URL=postgres://db/app_dev", "RAILS_ENV=test",
        "sqlite:///app.db", "file:./dev.db", "jdbc:h2:mem:x", "postgres://[::1]:5432/app", "sandbox",
    ],
)  # fmt: skip
def test_development(dev, text):
    assert development_name(dev, text)


@pytest.mark.parametrize(
    "text", ["", "app", "postgres://db.internal/app", "https://test.example.com", "NODE_ENV=test", "postgres://localhost/app_prod"]
)
def test_not_surely_development(dev, text):
    assert development_name(dev, text) == ""


def test_stricter_profiles_know_less_development(staging, prod):
    assert development_name(staging, "postgres://localhost/app") == ""
    assert development_name(prod, "RAILS_ENV=test") == ""


def test_names():
    assert names_in("postgres://u:p@db.prod.example.com:5432/app") == ("db.prod.example.com", "db", "prod", "example", "com", "u", "app")
    assert "p" not in names_in("postgres://u:p@h/app")
    assert is_local("postgres://localhost/x")
    assert not is_local("prod")
