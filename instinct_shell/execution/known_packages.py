"""Well-known package names (data/popular-*.txt, most used first, as of 2026-11), look-alikes, and mentions in manifests."""

from __future__ import annotations

import functools
import os

_ECOSYSTEMS = {
    **dict.fromkeys(("pip", "pip3", "uv", "pipx", "poetry", "pdm", "pipenv", "conda", "mamba", "uvx", "rye", "hatch"), "pypi"),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun", "bunx", "pnpx", "deno"), "npm"),
}
_JS = ("package.json",)
_PYTHON = (
    "pyproject.toml",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements/dev.txt",
    "requirements/base.txt",
    "setup.cfg",
    "setup.py",
    "Pipfile",
    "environment.yml",
)
MANIFESTS: dict[str, tuple[str, ...]] = {
    **{manager: _PYTHON if ecosystem == "pypi" else _JS for manager, ecosystem in _ECOSYSTEMS.items()},
    "cargo": ("Cargo.toml",),
    "gem": ("Gemfile",),
    "bundle": ("Gemfile",),
    "go": ("go.mod",),
    "composer": ("composer.json",),
}
# Managers that run a package's command, and take one out of the project when it is there.
RUNNERS = frozenset(("npx", "bunx", "pnpx"))
# Commands that come from a package of another name.
_PROVIDERS = {
    "ng": "@angular/cli", "babel": "@babel/cli", "swc": "@swc/cli", "changeset": "@changesets/cli", "eas": "eas-cli", "mmdc": "@mermaid-js/mermaid-cli",
    "tsc": "typescript", "docusaurus": "@docusaurus/core", "eleventy": "@11ty/eleventy", "nest": "@nestjs/cli", "vue-cli-service": "@vue/cli-service",
    "graphql-codegen": "@graphql-codegen/cli", "playwright": "@playwright/test", "biome": "@biomejs/biome", "marp": "@marp-team/marp-cli",
    "redocly": "@redocly/cli", "spectral": "@stoplight/spectral-cli", "cap": "@capacitor/cli", "commitlint": "@commitlint/cli", "sentry-cli": "@sentry/cli",
    "react-router": "@react-router/dev", "remix": "@remix-run/dev", "svelte-kit": "@sveltejs/kit", "mikro-orm": "@mikro-orm/cli", "stencil": "@stencil/core",
}  # fmt: skip
# Ecosystems without a shipped list: names that every project knows.
_FEW = {
    "cargo": (
        "serde serde_json tokio clap rand anyhow thiserror log env_logger tracing regex reqwest chrono futures itertools rayon syn quote libc "
        "bitflags hyper axum uuid once_cell lazy_static bytes num tempfile url base64 sha2 toml diesel sqlx criterion proptest async-trait dashmap "
        "parking_lot crossbeam tower tower-http tonic prost http rustls ring nom pest indexmap smallvec either heck proc-macro2 color-eyre eyre "
        "indicatif console dialoguer crossterm ratatui notify walkdir ignore globset glob dirs directories config dotenvy csv flate2 zip tar sha1 "
        "hmac jsonwebtoken argon2 bcrypt mockall wiremock assert_cmd predicates insta rstest pretty_assertions sea-orm rusqlite redis mongodb "
        "rdkafka aws-sdk-s3 futures-util pin-project bevy wgpu image nalgebra ndarray polars petgraph ordered-float num-traits num-bigint strum "
        "derive_more validator schemars utoipa askama tera leptos yew actix-web rocket warp poem tracing-subscriber serde_yaml serde_with "
        "clap_derive time rand_core hex memchr ahash hashbrown semver unicode-segmentation unicode-width textwrap which shellexpand rustyline nix "
        "winapi windows wasm-bindgen js-sys web-sys console_error_panic_hook getrandom simd-json rkyv bincode postcard rmp-serde quick-xml "
        "roxmltree scraper select headless_chrome tungstenite tokio-tungstenite tokio-stream tokio-util async-stream socket2 mio trust-dns-resolver "
        "native-tls openssl"
    ),
    **dict.fromkeys(("conda", "mamba", "micromamba", "pixi"), (
        "python nodejs r-base r-essentials gcc gxx gfortran clang compilers make openjdk go rust pip conda mamba git ffmpeg gdal geos proj cudatoolkit "
        "cuda-toolkit cudnn mkl openblas openssl postgresql sqlite perl ruby julia pytorch pytorch-cuda tensorflow-gpu jupyterlab graphviz pandoc "
        "imagemagick libgdal hdf5 zlib curl wget"
    )),
    "gem": (
        "rails rake rspec bundler puma sidekiq nokogiri rubocop pry devise pg redis sinatra rack minitest activerecord jekyll fastlane cocoapods "
        "rspec-rails factory_bot factory_bot_rails faker capybara selenium-webdriver simplecov dotenv dotenv-rails webmock vcr sorbet standard "
        "brakeman kaminari pagy pundit cancancan omniauth jwt bcrypt image_processing aws-sdk-s3 stripe httparty faraday rest-client bootsnap "
        "turbo-rails stimulus-rails importmap-rails jbuilder sqlite3 mysql2 sequel rubocop-rails rubocop-rspec pry-byebug byebug debug solargraph "
        "ruby-lsp erb_lint overcommit guard listen foreman tailwindcss-rails cssbundling-rails jsbundling-rails propshaft sprockets slim haml "
        "view_component phlex sidekiq-cron good_job delayed_job shoulda-matchers database_cleaner timecop rack-cors rack-attack thor tty-prompt "
        "json yaml csv minitest-reporters"
    ),
    "go": (
        "github.com/stretchr/testify github.com/spf13/cobra github.com/spf13/viper github.com/gin-gonic/gin github.com/gorilla/mux "
        "golang.org/x/tools golang.org/x/net golang.org/x/sync github.com/google/uuid go.uber.org/zap gorm.io/gorm"
    ),
    "composer": "laravel/framework symfony/console guzzlehttp/guzzle phpunit/phpunit monolog/monolog doctrine/orm",
}
# Owners under whose name nobody else can publish.
_OWNERS = {
    "go": tuple(
        "github.com/golangci/ github.com/air-verse/ github.com/swaggo/ honnef.co/go/ mvdan.cc/ github.com/vektra/ github.com/sqlc-dev/ "
        "github.com/pressly/ github.com/goreleaser/ github.com/bufbuild/ github.com/go-delve/ github.com/a-h/templ github.com/magefile/ "
        "github.com/go-task/ github.com/evilmartians/ github.com/securego/ golang.org/x/ google.golang.org/ cloud.google.com/go k8s.io/ "
        "sigs.k8s.io/ go.uber.org/ gorm.io/ gopkg.in/yaml. github.com/aws/ github.com/google/ github.com/golang/ github.com/spf13/ "
        "github.com/stretchr/ github.com/gin-gonic/ github.com/gorilla/ github.com/labstack/ github.com/gofiber/ github.com/go-chi/ "
        "github.com/jackc/ github.com/jmoiron/ github.com/lib/pq github.com/mattn/ github.com/redis/ github.com/go-redis/ github.com/prometheus/ "
        "github.com/grafana/ github.com/hashicorp/ github.com/docker/ github.com/moby/ github.com/Azure/ github.com/golang-jwt/ "
        "github.com/golang-migrate/ github.com/go-sql-driver/ github.com/rs/ github.com/sirupsen/ github.com/urfave/ github.com/charmbracelet/ "
        "github.com/fatih/ github.com/joho/ github.com/caarlos0/ github.com/samber/ github.com/testcontainers/ github.com/onsi/ github.com/uptrace/ "
        "github.com/segmentio/ github.com/nats-io/ github.com/twmb/ github.com/elastic/ go.mongodb.org/ go.opentelemetry.io/ entgo.io/ "
        "connectrpc.com/ modernc.org/".lower().split()
    ),
    "composer": tuple(
        "symfony/ laravel/ illuminate/ doctrine/ league/ spatie/ phpunit/ phpstan/ psalm/ vimeo/psalm guzzlehttp/ monolog/ psr/ twig/ ramsey/uuid "
        "nesbot/carbon friendsofphp/ squizlabs/ pestphp/ vlucas/phpdotenv predis/ barryvdh/ livewire/ filament/ inertiajs/ tightenco/ nunomaduro/ "
        "mockery/ fakerphp/ aws/ google/ stripe/ sentry/ slim/ cakephp/ yiisoft/ laminas/ api-platform/ rector/ phpmd/ infection/ roave/".split()
    ),
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_."


@functools.cache
def names(manager: str) -> frozenset[str]:
    """The well-known names of a manager's ecosystem, in their normal form."""
    ecosystem = _ECOSYSTEMS.get(manager)
    if ecosystem is None:
        return frozenset(_FEW.get("gem" if manager == "bundle" else manager, "").split())
    found: list[str] = []
    # Beside the most used: programs that are run once or for their command alone, so that few packages depend on them.
    for kind in ("", "-tools"):
        with open(os.path.join(os.path.dirname(__file__), "data", f"popular-{ecosystem}{kind}.txt"), encoding="utf-8") as stream:
            found += stream.read().split()
    found += _FEW.get(manager, "").split()
    return frozenset(normal(manager, name) for name in found)


def normal(manager: str, name: str) -> str:
    """The name as its registry compares it."""
    name = name.lower()
    if _ECOSYSTEMS.get(manager) == "pypi":
        return name.partition("[")[0].replace("_", "-").replace(".", "-")
    return name


def look_up(manager: str, name: str) -> tuple[bool, str]:
    """(well known, the well-known name that it is one edit away from or "")."""
    known, plain = names(manager), normal(manager, name)
    if plain in known or plain.startswith(_OWNERS.get(manager, ("\0",))):
        return True, ""
    return False, next((each for each in _edits(plain) if each in known and len(each) > 3), "")


def providers(name: str) -> tuple[str, ...]:
    """The package whose command this is, where its name is another."""
    found = _PROVIDERS.get(name)
    return (found,) if found else ()


def mentions(text: str, name: str) -> bool:
    """Whether a manifest names the package as a whole word, whatever the file's form."""
    lowered, wanted = text.lower(), name.lower()
    place = lowered.find(wanted)
    while place >= 0:
        before, after = lowered[place - 1 : place], lowered[place + len(wanted) : place + len(wanted) + 1]
        if not (before.isalnum() or before in ("-", "_", "/", "@")) and not (after.isalnum() or after in ("-", "_", "/")):
            return True
        place = lowered.find(wanted, place + 1)
    return False


def _edits(name: str) -> list[str]:
    """Every name one deletion, swap, replacement or insertion away; also with the separators left out."""
    cuts = [(name[:place], name[place:]) for place in range(len(name) + 1)]
    out = [left + right[1:] for left, right in cuts if right]
    out += [left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1]
    out += [left + letter + right[1:] for left, right in cuts if right for letter in _LETTERS]
    out += [left + letter + right for left, right in cuts for letter in _LETTERS]
    return [*out, name.replace("-", ""), name.replace("-", "_")]
