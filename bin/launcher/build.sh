#!/bin/sh
# Build the C launcher: build.sh PYTHON CHECKOUT OUTPUT. It holds the absolute paths of what it falls back to, so it belongs to one checkout.
set -eu
python=$1 checkout=$2 output=$3
here=$(cd -- "$(dirname -- "$0")" && pwd)
quoted() { printf '"%s"' "$(printf %s "$1" | sed 's/[\\"]/\\&/g')"; }
exec "${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE -pie -Wl,-z,relro,-z,now \
  "-DINSTINCT_PYTHON=$(quoted "$python")" "-DINSTINCT_LAUNCH=$(quoted "$checkout/bin/launch.py")" "-DINSTINCT_PACKAGE=$(quoted "$checkout/instinct_shell")" \
  -o "$output" "${INSTINCT_FRONT:-$here/launcher.c}" "$here/jail.c" "$here/watch.c" "$here/streams.c" "$here/bytes.c"
