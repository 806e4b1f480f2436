"""What functions of the Python library and its neighbours do: dotted name -> action. The actions are methods of `python_calls.Calls`."""

from __future__ import annotations

_ACTIONS = {
    "delete": "os.remove os.unlink os.rmdir os.removedirs pathlib.Path.unlink pathlib.Path.rmdir posix.remove posix.unlink "
    "posix.rmdir nt.remove",
    "delete_tree": "shutil.rmtree send2trash.send2trash distutils.dir_util.remove_tree setuptools._distutils.dir_util.remove_tree",
    "read": "linecache.getline linecache.getlines numpy.load numpy.loadtxt numpy.genfromtxt pandas.read_csv pandas.read_json "
    "pandas.read_excel pandas.read_parquet "
    "pandas.read_pickle pandas.read_table pandas.read_fwf pandas.read_xml polars.read_csv polars.read_parquet "
    "polars.read_json toml.load tomllib.load "
    "imageio.imread cv2.imread PIL.Image.open torch.load joblib.load tokenize.open netrc.netrc mailbox.mbox "
    "plistlib.load dotenv.get_key "
    "paramiko.RSAKey.from_private_key_file cryptography.x509.load_pem_x509_certificate",
    "dotenv": "dotenv.dotenv_values dotenv.load_dotenv dotenv.main.dotenv_values dotenv.main.load_dotenv dotenv.main.DotEnv "
    "environs.Env.read_env decouple.config "
    "decouple.Config environ.Env.read_env starlette.config.Config python_dotenv.load_dotenv dotenv.main.get_key",
    "write": "os.truncate numpy.save numpy.savetxt numpy.savez shelve.open dbm.open logging.FileHandler torch.save "
    "joblib.dump cv2.imwrite imageio.imwrite "
    "logging.handlers.RotatingFileHandler dotenv.set_key dotenv.unset_key",
    "create": "os.mkdir os.makedirs os.mknod os.mkfifo pathlib.Path.mkdir",
    "move": "os.rename os.replace os.renames shutil.move",
    "copy": "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree distutils.file_util.copy_file "
    "distutils.dir_util.copy_tree shutil.copymode",
    "metadata": "os.chmod os.chown os.lchown os.lchmod shutil.chown os.utime os.setxattr os.chflags",
    "link": "os.symlink os.link",
    "open": "builtins.open io.open codecs.open gzip.open bz2.open lzma.open tarfile.open zipfile.ZipFile tarfile.TarFile "
    "pathlib.Path.open io.FileIO aiofiles.open "
    "zipfile.PyZipFile tempfile.SpooledTemporaryFile smart_open.open fsspec.open",
    "os_open": "os.open posix.open",
    "archive": "shutil.make_archive",
    "unpack": "shutil.unpack_archive",
    "fileinput": "fileinput.input fileinput.FileInput",
    "chdir": "os.chdir os.fchdir contextlib.chdir",
    "shell": "os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput commands.getstatusoutput "
    "asyncio.create_subprocess_shell "
    "asyncio.subprocess.create_subprocess_shell posix.system nt.system popen2.popen2 popen2.popen3 os.popen2 "
    "os.popen3 invoke.run fabric.api.local fabric.api.run "
    "pexpect.run pexpect.spawn pexpect.spawnu delegator.run os.startfile IPython.get_ipython.system distutils.spawn.spawn",
    "process": "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen "
    "asyncio.create_subprocess_exec "
    "asyncio.subprocess.create_subprocess_exec pty.spawn _posixsubprocess.fork_exec plumbum.local trio.run_process "
    "anyio.run_process",
    "exec": "os.execv os.execve os.execvp os.execvpe os.posix_spawn os.posix_spawnp posix.execv",
    "exec_list": "os.execl os.execle os.execlp os.execlpe",
    "spawn": "os.spawnv os.spawnve os.spawnvp os.spawnvpe",
    "spawn_list": "os.spawnl os.spawnle os.spawnlp os.spawnlpe",
    "run_code": "builtins.exec builtins.eval builtins.compile code.interact code.InteractiveInterpreter.runcode timeit.timeit "
    "timeit.repeat cProfile.run profile.run "
    "runpy._run_code types.FunctionType ast.literal_evaluate builtins.execfile pandas.eval numexpr.evaluate",
    "run_file": "runpy.run_path builtins.execfile",
    "run_module": "runpy.run_module",
    "import_": "builtins.__import__ importlib.import_module importlib.__import__",
    "getattr_": "builtins.getattr operator.attrgetter",
    "http_get": "requests.get requests.head requests.options httpx.get httpx.head urllib.request.urlopen "
    "urllib.request.urlretrieve urllib2.urlopen urllib.urlopen "
    "wget.download requests.session requests.Session.get requests.Session.head urllib3.request aiohttp.request "
    "webbrowser.open httpx.stream "
    "huggingface_hub.snapshot_download huggingface_hub.hf_hub_download gdown.download",
    "http_post": "requests.post requests.put requests.patch httpx.post httpx.put httpx.patch requests.Session.post "
    "requests.Session.put requests.Session.patch",
    "http_delete": "requests.delete httpx.delete requests.Session.delete",
    "http_request": "requests.request httpx.request requests.Session.request urllib.request.Request",
    "http_client": "requests.Session httpx.Client httpx.AsyncClient aiohttp.ClientSession urllib3.PoolManager requests.session "
    "httplib2.Http",
    "http_connection": "http.client.HTTPConnection http.client.HTTPSConnection httplib.HTTPConnection httplib.HTTPSConnection",
    "socket": "socket.socket ssl.wrap_socket",
    "socket_to": "socket.create_connection ftplib.FTP ftplib.FTP_TLS smtplib.SMTP smtplib.SMTP_SSL telnetlib.Telnet "
    "imaplib.IMAP4_SSL poplib.POP3 paramiko.Transport "
    "asyncio.open_connection websocket.create_connection websockets.connect ldap3.Connection",
    "listen": "http.server.HTTPServer http.server.ThreadingHTTPServer socketserver.TCPServer http.server.test uvicorn.run "
    "waitress.serve xmlrpc.server.SimpleXMLRPCServer "
    "asyncio.start_server socket.create_server wsgiref.simple_server.make_server "
    "http.server.SimpleHTTPRequestHandler.serve gevent.pywsgi.WSGIServer",
    "ssh_client": "paramiko.SSHClient fabric.Connection paramiko.client.SSHClient asyncssh.connect",
    "database": "sqlite3.connect psycopg2.connect psycopg.connect pymysql.connect MySQLdb.connect mysql.connector.connect "
    "asyncpg.connect duckdb.connect pyodbc.connect "
    "cx_Oracle.connect oracledb.connect snowflake.connector.connect sqlalchemy.create_engine aiosqlite.connect "
    "pg8000.connect pymssql.connect clickhouse_connect.get_client "
    "records.Database dataset.connect databases.Database sqlalchemy.ext.asyncio.create_async_engine",
    "mongo": "pymongo.MongoClient motor.motor_asyncio.AsyncIOMotorClient mongoengine.connect",
    "redis": "redis.Redis redis.StrictRedis redis.from_url redis.Redis.from_url redis.asyncio.Redis redis.asyncio.from_url",
    "kill": "os.kill os.killpg signal.pthread_kill os.abort",
    "psutil": "psutil.Process",
    "privilege": "os.setuid os.setgid os.seteuid os.setreuid os.setresuid os.chroot os.initgroups os.setns os.unshare",
    "library": "ctypes.CDLL ctypes.cdll.LoadLibrary ctypes.PyDLL ctypes.WinDLL cffi.FFI.dlopen ctypes.util.find_library",
    "scratch": "tempfile.mkdtemp tempfile.mktemp tempfile.TemporaryDirectory tempfile.NamedTemporaryFile tempfile.mkstemp "
    "tempfile.TemporaryFile",
    "join": "os.path.join posixpath.join ntpath.join pathlib.Path.joinpath pathlib.PurePath.joinpath",
    "path": "pathlib.Path pathlib.PosixPath pathlib.PurePath pathlib.PurePosixPath py.path.local anyio.Path "
    "plumbum.path.local.LocalPath path.Path os.fspath os.fsencode os.fsdecode",
    "same": "os.path.abspath os.path.realpath os.path.normpath os.path.expandvars os.path.normcase builtins.str "
    "builtins.bytes builtins.repr builtins.iter builtins.list "
    "builtins.tuple builtins.sorted builtins.set builtins.reversed builtins.frozenset os.path.relpath os.readlink "
    "copy.copy copy.deepcopy io.StringIO io.BytesIO "
    "builtins.bytearray builtins.memoryview contextlib.closing tqdm.tqdm shlex.quote pipes.quote builtins.next "
    "itertools.chain",
    "expanduser": "os.path.expanduser",
    "dirname": "os.path.dirname posixpath.dirname",
    "basename": "os.path.basename posixpath.basename",
    "home": "pathlib.Path.home",
    "cwd": "os.getcwd pathlib.Path.cwd os.getcwdb",
    "tempdir": "tempfile.gettempdir",
    "listing": "os.listdir os.scandir",
    "walk": "os.walk os.fwalk",
    "glob": "glob.glob glob.iglob",
    "getenv": "os.getenv os.environ.get os.environ.pop os.getenvb os.environ.setdefault",
    "environ_whole": "os.environ.copy os.environ.items os.environ.values",
    "print_": "builtins.print sys.stdout.write sys.stderr.write pprint.pprint logging.info logging.warning logging.error "
    "logging.debug logging.critical sys.stdout.buffer.write os.write "
    "rich.print click.echo typer.echo builtins.input sys.exit",
    "dumps": "json.dumps builtins.dict yaml.dump pprint.pformat builtins.vars yaml.safe_dump builtins.format pickle.dumps marshal.dumps",
    "stdin": "sys.stdin.read sys.stdin.readline builtins.input sys.stdin.readlines sys.stdin.buffer.read fileinput.input_stdin",
    "decode base64": "base64.b64decode base64.standard_b64decode base64.decodebytes base64.decodestring binascii.a2b_base64",
    "decode urlsafe": "base64.urlsafe_b64decode",
    "decode b32": "base64.b32decode",
    "decode hex": "bytes.fromhex builtins.bytes.fromhex binascii.unhexlify binascii.a2b_hex base64.b16decode builtins.bytearray.fromhex",
    "decode b85": "base64.b85decode",
    "decode a85": "base64.a85decode",
    "decode zlib": "zlib.decompress gzip.decompress bz2.decompress lzma.decompress",
    "decode url": "urllib.parse.unquote urllib.unquote urllib.parse.unquote_plus",
    "codec": "codecs.decode codecs.getdecoder",
    "unpickle": "marshal.loads pickle.loads dill.loads cloudpickle.loads pickle.load marshal.load",
    "shlex": "shlex.split",
    "chr_": "builtins.chr",
    "ord_": "builtins.ord",
    "map_": "builtins.map builtins.filter",
    "globals_": "builtins.globals builtins.locals",
    "partial": "functools.partial",
    "thread": "threading.Thread multiprocessing.Process threading.Timer atexit.register signal.signal "
    "concurrent.futures.ThreadPoolExecutor.submit asyncio.run",
    "pip": "pip.main pip._internal.main pip._internal.cli.main.main",
    "keyring": "keyring.get_password keyring.get_credential",
    "repo": "git.Repo git.Repo.init git.Git",
    "cloud": "boto3.client boto3.resource boto3.session.Session.client google.cloud.storage.Client "
    "azure.storage.blob.BlobServiceClient kubernetes.client.CoreV1Api "
    "kubernetes.client.AppsV1Api docker.from_env docker.DockerClient",
    "paid": "openai.OpenAI openai.AsyncOpenAI anthropic.Anthropic anthropic.AsyncAnthropic openai.ChatCompletion.create "
    "openai.Completion.create litellm.completion "
    "google.generativeai.GenerativeModel replicate.run cohere.Client mistralai.Mistral groq.Groq together.Together",
    "mail": "smtplib.SMTP.sendmail smtplib.SMTP.send_message",
    "dup2": "os.dup2",
    "spawn_shell": "pty.fork",
    "http_server": "http.server.serve_forever",
}

FUNCTIONS: dict[str, str] = {name: action for action, names in _ACTIONS.items() for name in names.split()}

# Methods of paths (a string has none of these names, or they mean the same there).
PATH_METHODS = {
    "unlink": "delete",
    "rmdir": "delete",
    "rmtree": "delete_tree",
    "remove": "delete",
    "touch": "touch",
    "mkdir": "create",
    "chmod": "metadata",
    "symlink_to": "link_to",
    "hardlink_to": "link_to",
    "rename": "move_to",
    "write_text": "write_self",
    "write_bytes": "write_self",
    "read_text": "read_self",
    "read_bytes": "read_self",
    "open": "open_self",
    "remove_p": "delete",
    "rmtree_p": "delete_tree",
    "unlink_p": "delete",
}
# Methods that leave a path (or text) what it was, as far as the reader cares.
SAME = frozenset(
    "resolve absolute as_posix expandvars copy encode decode strip rstrip lstrip __str__ __fspath__ readlink "
    "casefold title isoformat tobytes getvalue".split()
)
