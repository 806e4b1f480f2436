"""What functions of JavaScript, Perl, Ruby, PHP and Lua do: name -> action. `.`, `->` and `::` are one separator; the actions are methods
of `code_actions.Actions`."""

from __future__ import annotations


def _table(**actions: str) -> dict[str, str]:
    return {name: action.rstrip("_").replace("decode_", "decode ") for action, names in actions.items() for name in names.split()}


_JAVASCRIPT = _table(
    starts="child_process.exec child_process.execSync shelljs.exec zx.$ execa.execaCommand execa.command execa.commandSync "
    "execa.execaCommandSync execaCommand",
    argv="child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync execa execa.execa "
    "execa.sync execa.execaSync cross-spawn cross-spawn.sync "
    "cross-spawn.spawn Bun.spawn Bun.spawnSync Deno.run Deno.Command node-pty.spawn execFile",
    fork="child_process.fork worker_threads.Worker Worker",
    delete="fs.unlink fs.unlinkSync fs.rmdir fs.rmdirSync unlink-sync",
    remove="fs.rm fs.rmSync Deno.remove Deno.removeSync",
    delete_tree="fs-extra.remove fs-extra.removeSync fs-extra.emptyDir fs-extra.emptyDirSync rimraf rimraf.sync rimraf.rimraf "
    "rimraf.rimrafSync del del.sync del.deleteAsync del.deleteSync "
    "shelljs.rm trash fs-extra.rm fs-extra.rmSync fs-jetpack.remove",
    read="fs.readFile fs.readFileSync fs.createReadStream fs.readlink Deno.readTextFile Deno.readTextFileSync "
    "Deno.readFile Deno.readFileSync Bun.file fs-extra.readJson fs-extra.readJsonSync "
    "shelljs.cat fs-extra.readFileSync fs-extra.readFile fs.readv jsonfile.readFileSync",
    write="fs.writeFile fs.writeFileSync fs.createWriteStream fs.truncate fs.truncateSync Deno.writeTextFile "
    "Deno.writeTextFileSync Deno.writeFile Deno.writeFileSync Bun.write "
    "fs-extra.outputFile fs-extra.outputFileSync fs-extra.writeJson fs-extra.writeJsonSync fs-extra.outputJson "
    "fs-extra.outputJsonSync fs-extra.writeFileSync fs-extra.writeFile Deno.truncate "
    "Deno.truncateSync Deno.create jsonfile.writeFileSync",
    append="fs.appendFile fs.appendFileSync",
    create="fs.mkdir fs.mkdirSync fs.mkdtemp fs-extra.ensureDir fs-extra.ensureDirSync fs-extra.mkdirp fs-extra.ensureFile "
    "Deno.mkdir Deno.mkdirSync shelljs.mkdir",
    move="fs.rename fs.renameSync fs-extra.move fs-extra.moveSync Deno.rename Deno.renameSync shelljs.mv",
    copy="fs.copyFile fs.copyFileSync fs.cp fs.cpSync fs-extra.copy fs-extra.copySync Deno.copyFile Deno.copyFileSync shelljs.cp",
    metadata="fs.chmod fs.chmodSync fs.chown fs.chownSync fs.lchown fs.utimes fs.utimesSync Deno.chmod Deno.chmodSync "
    "Deno.chown shelljs.chmod",
    link="fs.symlink fs.symlinkSync fs.link fs.linkSync Deno.symlink Deno.symlinkSync Deno.link",
    open="fs.open fs.openSync Deno.open Deno.openSync",
    glob="glob.sync glob.globSync glob.glob fast-glob.sync fast-glob globby globby.sync fs.globSync fs.glob tinyglobby.globSync",
    listing="fs.readdir fs.readdirSync Deno.readDir Deno.readDirSync",
    fetch="fetch axios axios.request got node-fetch undici.request undici.fetch ky superagent axios.default",
    http_get="http.get https.get axios.get axios.head got.get ky.get needle.get http.request https.request needle",
    http_post="axios.post axios.put axios.patch got.post got.put got.patch ky.post needle.post needle.put",
    http_delete="axios.delete got.delete ky.delete needle.delete",
    connect="net.connect net.createConnection tls.connect net.Socket WebSocket ws Deno.connect Bun.connect dgram.createSocket",
    listen="http.createServer https.createServer net.createServer Deno.serve Bun.serve Deno.listen express",
    eval_="eval Function vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction AsyncFunction setTimeout_text",
    opaque="process.binding process.dlopen process._linkedBinding internalBinding",
    module="require module.require createRequire import",
    join="path.join path.resolve path.posix.join path.posix.resolve",
    dirname="path.dirname",
    basename="path.basename",
    home="os.homedir",
    tmpdir="os.tmpdir",
    cwd="process.cwd Deno.cwd",
    chdir="process.chdir Deno.chdir",
    print_="console.log console.error console.info console.dir console.table console.debug process.stdout.write "
    "process.stderr.write Deno.stdout.write Bun.stdout.write",
    dumps="JSON.stringify util.inspect Object.entries Object.values Object.assign structuredClone",
    names="Object.keys",
    kill="process.kill",
    decode_base64="atob",
    buffer="Buffer.from Buffer",
    decode_url="unescape decodeURIComponent",
    charcode="String.fromCharCode String.fromCodePoint",
    stdin="fs.readFileSync_stdin",
    database="better-sqlite3 sqlite3.Database node:sqlite.DatabaseSync pg.Pool pg.Client mysql.createConnection "
    "mysql2.createConnection mysql2.createPool postgres @prisma.client.PrismaClient",
)
_PERL = _table(
    starts="system exec readpipe IPC.Open3.open3 IPC.Open2.open2 open3 open2 IPC.System.Simple.capture capture IPC.Run.run",
    delete="unlink rmdir",
    delete_tree="rmtree remove_tree File.Path.rmtree File.Path.remove_tree",
    create="mkdir make_path mkpath File.Path.make_path File.Path.mkpath",
    move="rename move mv File.Copy.move File.Copy.mv",
    copy="copy cp File.Copy.copy File.Copy.cp rcopy dircopy File.Copy.Recursive.rcopy",
    link="symlink link",
    last_metadata="chmod chown utime",
    truncate="truncate",
    perl_open="open sysopen",
    glob="glob",
    listing="readdir",
    eval_="eval",
    do_file="do require",
    chdir="chdir",
    print_="print say printf warn die syswrite",
    kill="kill",
    http_get="LWP.Simple.get get getstore LWP.Simple.getstore getprint LWP.Simple.getprint",
    http_post="LWP.UserAgent.post HTTP.Tiny.post",
    connect="IO.Socket.INET.new IO.Socket.SSL.new connect Socket.connect",
    listen="listen",
    decode_base64="decode_base64 MIME.Base64.decode_base64",
    decode_hex="pack_hex",
    charcode="chr",
    dumps="Dumper Data.Dumper.Dumper",
    database="DBI.connect",
    read_file="read_file File.Slurp.read_file slurp path",
    write_file="write_file File.Slurp.write_file spew",
    quotemeta="quotemeta",
    stdin="STDIN",
)
_RUBY = _table(
    starts="system exec spawn Kernel.system Kernel.exec Kernel.spawn IO.popen Open3.capture2 Open3.capture3 Open3.capture2e "
    "Open3.popen3 Open3.popen2 Open3.popen2e Open3.pipeline Process.spawn "
    "PTY.spawn sh Process.exec TTY.Command.new.run",
    delete="File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove "
    "FileUtils.rmdir FileUtils.safe_unlink rm rm_f FileUtils.remove_file",
    delete_tree="FileUtils.rm_r FileUtils.rm_rf FileUtils.rmtree FileUtils.remove_dir FileUtils.remove_entry "
    "FileUtils.remove_entry_secure rm_rf rm_r FileUtils.remove_dir",
    read="File.read IO.read File.readlines IO.readlines File.binread File.foreach IO.foreach IO.binread YAML.load_file "
    "JSON.load_file CSV.read CSV.foreach YAML.safe_load_file",
    write="File.write IO.write File.binwrite File.truncate IO.binwrite",
    create="Dir.mkdir FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs FileUtils.touch mkdir_p touch",
    move="File.rename FileUtils.mv FileUtils.move mv",
    copy="FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.copy_file FileUtils.install cp cp_r IO.copy_stream",
    last_metadata="File.chmod File.chown File.lchmod",
    metadata_second="FileUtils.chmod FileUtils.chmod_R FileUtils.chown FileUtils.chown_R",
    link="File.symlink File.link FileUtils.ln_s FileUtils.ln FileUtils.ln_sf",
    open="File.open File.new open IO.sysopen Kernel.open Zip.File.open",
    glob="Dir.glob Dir",
    walk="Find.find",
    listing="Dir.entries Dir.children Dir.each_child Dir.foreach",
    eval_="eval instance_eval class_eval Kernel.eval binding.eval module_eval TOPLEVEL_BINDING.eval",
    do_file="load require require_relative Kernel.load",
    http_get="Net.HTTP.get URI.open OpenURI.open_uri HTTParty.get Faraday.get RestClient.get Net.HTTP.get_response HTTP.get "
    "Net.HTTP.get_print",
    http_post="Net.HTTP.post Net.HTTP.post_form HTTParty.post Faraday.post RestClient.post HTTParty.put HTTP.post RestClient.put",
    http_delete="HTTParty.delete RestClient.delete Faraday.delete HTTP.delete",
    connect="TCPSocket.new TCPSocket.open Socket.tcp UDPSocket.new",
    listen="TCPServer.new TCPServer.open WEBrick.HTTPServer.new",
    print_="puts print p pp $stdout.puts STDOUT.puts warn $stdout.write $stderr.puts",
    kill="Process.kill",
    decode_base64="Base64.decode64 Base64.strict_decode64",
    decode_urlsafe="Base64.urlsafe_decode64",
    join="File.join File.expand_path Pathname.new Pathname File.absolute_path File.realpath URI URI.parse",
    dirname="File.dirname",
    basename="File.basename",
    home="Dir.home",
    tmpdir="Dir.tmpdir",
    cwd="Dir.pwd Dir.getwd",
    chdir="Dir.chdir",
    scratch="Dir.mktmpdir Tempfile.new Tempfile.create",
    dumps="JSON.generate JSON.dump ENV.to_h ENV.to_hash",
    dotenv="Dotenv.parse Dotenv.load Dotenv.load! Dotenv.overload Dotenv.overload! Dotenv.read",
    stdin="STDIN.read $stdin.read gets ARGF.read STDIN.gets",
    send_="Object.send Kernel.send",
    module="Object.const_get Kernel.const_get",
    database="SQLite3.Database.new PG.connect PG.Connection.new Mysql2.Client.new Sequel.connect Sequel.sqlite",
)
_PHP = _table(
    quotemeta="escapeshellarg escapeshellcmd",
    starts="system exec shell_exec passthru popen proc_open \\system \\exec \\shell_exec",
    argv="pcntl_exec",
    delete="unlink rmdir",
    read="file_get_contents readfile file fgets_file parse_ini_file simplexml_load_file show_source highlight_file",
    write="file_put_contents",
    create="mkdir touch tempnam",
    move="rename move_uploaded_file",
    copy="copy",
    metadata="chmod chown chgrp",
    link="symlink link",
    open="fopen SplFileObject gzopen",
    glob="glob",
    listing="scandir opendir",
    eval_="eval assert create_function",
    do_file="include include_once require require_once",
    chdir="chdir",
    print_="echo print print_r var_dump var_export printf die exit",
    decode_base64="base64_decode",
    decode_hex="hex2bin",
    decode_rot13="str_rot13",
    decode_zlib="gzinflate gzuncompress gzdecode",
    charcode="chr",
    home="posix_getpwuid",
    cwd="getcwd",
    tmpdir="sys_get_temp_dir",
    getenv="getenv",
    http_get="curl_init",
    connect="fsockopen pfsockopen stream_socket_client socket_connect",
    mail="mail",
    kill="posix_kill",
    dumps="json_encode serialize",
    dirname="dirname",
    basename="basename",
    database="PDO mysqli mysqli_connect SQLite3 pg_connect",
    query="mysqli_query pg_query",
    invoke="call_user_func call_user_func_array",
    each_of="array_map array_walk_",
)
_LUA = _table(
    starts="os.execute io.popen vim.fn.system vim.fn.systemlist",
    delete="os.remove lfs.rmdir",
    move="os.rename",
    open="io.open",
    read="io.lines io.input",
    write="io.output",
    create="lfs.mkdir",
    eval_="load loadstring",
    do_file="dofile loadfile require",
    print_="print io.write io.stdout.write",
    getenv="os.getenv",
    scratch="os.tmpname",
    charcode="string.char",
    concat="table.concat",
    connect="socket.connect socket.tcp",
    http_get="http.request socket.http.request",
    link="lfs.link",
)

ACTIONS: dict[str, dict[str, str]] = {"javascript": _JAVASCRIPT, "perl": _PERL, "ruby": _RUBY, "php": _PHP, "lua": _LUA}
# Methods of objects, by language: name -> action on (receiver, arguments).
METHODS: dict[str, dict[str, str]] = {
    "javascript": {
        "query": "query",
        "exec": "query",
        "prepare": "query",
        "execute": "query",
        "$executeRawUnsafe": "query",
        "$queryRawUnsafe": "query",
        "run": "query",
        "raw": "query",
    },
    "perl": {
        "do": "query",
        "execute": "query",
        "prepare": "query",
        "slurp": "read_self",
        "spew": "write_self",
        "remove_tree": "tree_self",
        "remove": "delete_self",
    },
    "ruby": {
        "execute": "query",
        "exec": "query",
        "query": "query",
        "run": "query",
        "delete": "delete_self",
        "unlink": "delete_self",
        "rmtree": "tree_self",
        "read": "read_self",
        "write": "write_self",
        "send": "send",
        "public_send": "send",
        "__send__": "send",
    },
    "php": {"query": "query", "exec": "query", "execute": "query", "prepare": "query", "multi_query": "query"},
    "lua": {},
}
