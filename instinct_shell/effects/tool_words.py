"""Names of other programs' tools and of their arguments, and what they mean: the tables behind `tool_calls`."""

from __future__ import annotations

import re

COMMANDS = frozenset("command commands cmd cmds shellcommand bashcommand commandline clicommand shell bash program executable binary".split())
SUBCOMMANDS = frozenset("subcommand verb".split())  # of the program that the tool is named for
SCRIPTS = frozenset("script code sourcecode snippet".split())
ARGUMENTS = frozenset("args argv arguments argumentlist cmdargs".split())
FOLDERS = frozenset("cwd workingdirectory workingdir workdir".split())
SQL = frozenset("sql sqlquery sqltext sqlstatement sqlcommand ddl".split())
QUERIES = frozenset("query queries statement statements".split())
URLS = frozenset("url uri urls".split())

PATHS = frozenset(
    "path paths filepath filepaths filename filenames file files absolutepath targetfile targetpath notebookpath directory dirpath folder uri".split()
)
SOURCES = frozenset("source src sourcepath from oldpath oldname oldfile sources".split())
DESTINATIONS = frozenset("destination dest dst destinationpath to newpath newname newfile target".split())
OUTPUTS = frozenset("output outputpath outputfile savepath saveto destination destinationpath dest downloadpath".split())

# What the first of its verbs says a tool does with a path; a tool without one reads it.
VERBS = {
    **dict.fromkeys("write create save append put overwrite mkdir touch store export add".split(), "write"),
    **dict.fromkeys("edit replace modify patch update insert change str apply".split(), "edit"),
    **dict.fromkeys("delete remove rm unlink trash erase rmdir destroy wipe".split(), "delete"),
    **dict.fromkeys("move rename mv".split(), "move"),
    **dict.fromkeys("copy cp duplicate".split(), "copy"),
    **dict.fromkeys("list ls stat info exists tree metadata".split(), "look"),
}
FOLDER_WORDS = frozenset("directory dir folder tree recursive rmdir".split())

# Tools by the words of their names, the server's included.
DATABASES = frozenset(
    "sql db database databases postgres postgresql pg mysql mariadb sqlite mssql snowflake bigquery duckdb clickhouse oracle supabase".split()
)
SHELLS = frozenset("bash sh zsh shell terminal command commands cmd exec execute run process ssh".split())
PYTHONS = frozenset("python py python3 jupyter ipython".split())
PAGES = frozenset("browser puppeteer playwright chrome devtools evaluate page js javascript typescript node figma applescript".split())
SEARCHES = frozenset("search web google brave bing docs find lookup ask memory memories wiki".split())
FETCHES = frozenset("fetch get download request http browse navigate open crawl scrape curl".split())
# Tools that are one program's: `{"command": "delete ns x"}` of a tool for Kubernetes leaves its name out.
PROGRAMS = {
    **{name: name for name in "kubectl helm docker podman git gh glab aws gcloud gsutil az terraform tofu pulumi ansible heroku fly flyctl".split()},
    **{name: name for name in "vercel netlify wrangler doctl firebase stripe argocd vault consul etcdctl npm pnpm yarn pip uv cargo make brew rclone".split()},
    "kubernetes": "kubectl", "k8s": "kubectl", "opentofu": "tofu", "azure": "az", "gcp": "gcloud", "redis": "redis-cli", "valkey": "redis-cli",
    "mongo": "mongosh --eval", "mongodb": "mongosh --eval", "cloudflare": "wrangler",
}  # fmt: skip
# What a tool named `drop-collection` or `drop_table` drops, and the arguments that name it.
DROPPED = frozenset("database databases schema table tables collection collections".split())
DROPPED_NAMES = frozenset("collection collectionname table tablename database databasename schema schemaname name".split())
# Their paths are names on another machine.
ELSEWHERE = frozenset(
    "github gitlab bitbucket gitea s3 gcs drive gdrive dropbox notion confluence figma slack jira linear http https api rest graphql".split()
)


def words_in(name: str) -> tuple[str, ...]:
    """`mcp__fileSystem__write_file` as (mcp, file, system, write, file)."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name))


def plain(name: str) -> str:
    """An argument's name without case and joints: `workingDirectory`, `working_directory` and `working-directory` are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


# How a statement of SQL begins. A phrase for a search may begin with the same word, and seldom goes on like this.
STATEMENT = (
    r"\s*\(*\s*(?:select\b|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\b|delete\s+from\s|update\s+\S+\s+(?:as\s+\w+\s+|\w+\s+)?set\s|insert\s+(?:\w+\s+)?into\s|"
    r"replace\s+into\s|merge\s+into\s|truncate\s+(?:table\s|only\s|\S+\s*(?:cascade\s*)?\Z)|"
    r"(?:drop|create|alter)\s+(?:or\s+replace\s+|temp\s+|temporary\s+|unique\s+|materialized\s+|global\s+|external\s+)*"
    r"(?:table|database|schema|view|index|user|role|function|procedure|trigger|sequence|type|extension|tablespace|keyspace|column|owned|policy|warehouse)\b|"
    r"(?:grant|revoke)\s.*\s(?:to|from)\s|explain\s|copy\s|do\s+\$|call\s+\w+\s*\(|exec(?:ute)?\s+\w+|vacuum\b|begin\b|declare\s|set\s+\w+|use\s+\w+\s*\Z)"
)

# The tools of `instinct mcp`, as agents name those of a server called "instinct" (mcp__instinct__check, instinct_check, instinct-check).
OURS = r"(?:mcp[_:]+)?instinct[-_:/.]+(?:run_command|read_file|write_file|edit_file|delete_file|move_file|apply_patch|check|budget)"
