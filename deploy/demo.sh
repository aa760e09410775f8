#!/bin/sh
# Index data/demo with the bundled model, start the service, ask three questions with curl, stop.
# With --serve the service stays in the foreground until Ctrl-C. A key in the environment costs nothing here:
# deploy/demo.toml names the local model alone, and the cloud is off.
set -eu
cd "$(dirname "$0")/.."

letopis=.venv/bin/letopis
config=deploy/demo.toml
port=8077
limit=2

for name in $(env | sed -n 's/^\(LETOPIS_[A-Za-z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done
# A proxy of the environment must not stand between curl and this machine.
export NO_PROXY='*' no_proxy='*'

[ -x "$letopis" ] || { echo "demo: $letopis is not there. Next: make install" >&2; exit 1; }
command -v curl >/dev/null 2>&1 || { echo "demo: curl is not installed. Next: install curl, or run \`make serve\` and open the page it names" >&2
    [ "${1-}" = --serve ] || exit 1; }

log=$(mktemp)
server=
finish() {
    status=$?
    trap - EXIT INT TERM HUP
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || :
        wait "$server" 2>/dev/null || :
    fi
    rm -f "$log"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# start PORT: run the service in the background and wait until it answers; sets url.
start() {
    : >"$log"
    "$letopis" serve --config "$config" --port "$1" >"$log" 2>&1 &
    server=$!
    url=
    tries=0
    while [ "$tries" -lt 300 ]; do
        kill -0 "$server" 2>/dev/null || break
        [ -n "$url" ] || url=$(sed -n 's/.*listening on \(http:[^ ]*\).*/\1/p' "$log" | head -n 1)
        if [ -n "$url" ] && { ! command -v curl >/dev/null 2>&1 || curl -fs "$url/readyz" >/dev/null 2>&1; }; then
            return 0
        fi
        tries=$((tries + 1))
        sleep 0.1
    done
    wait "$server" 2>/dev/null || :
    server=
    return 1
}

# ask QUESTION: show the command line, then run it.
ask() {
    printf "\n\$ curl -G %s/v1/search --data-urlencode 'q=%s' -d limit=%s -d format=text\n" "$url" "$1" "$limit"
    curl -sS -G "$url/v1/search" --data-urlencode "q=$1" -d "limit=$limit" -d format=text
    echo
}

echo "== Building the index of data/demo: a family chat, a Telegram export, an agent's sessions and notes =="
"$letopis" build --config "$config"

if [ "${1-}" = --serve ]; then
    start "$port" || start 0 || { cat "$log" >&2; exit 1; }
    cat <<END

== Letopis is running on $url, Ctrl-C stops it ==
The search page:  $url/
From a shell:
  curl -G $url/v1/search --data-urlencode 'q=чем болеет кот и чем теперь его кормить' -d format=text
  curl $url/v1/search -d 'q=что решили по графу сущностей' -d limit=3
  curl -G $url/v1/entities --data-urlencode 'q=оля'
  curl $url/v1/status
END
    trap 'exit 0' INT TERM
    wait "$server"
    exit 0
fi

start 0 || { cat "$log" >&2; exit 1; }
echo
echo "== Three questions over HTTP =="
ask 'на каком порту сейчас отвечает наш сервис'
ask 'чем болеет кот и чем теперь его кормить'
ask 'что ответили Петру Королеву на просьбу о бесплатном пилоте'
cat <<END

== Done. Try next ==
  make serve                                   keep the demo running, with a search page
  .venv/bin/letopis search --config $config 'кто едет в Карелию' --explain
  .venv/bin/letopis init                       find your own archives and write letopis.toml
  .venv/bin/letopis build && .venv/bin/letopis serve
END
