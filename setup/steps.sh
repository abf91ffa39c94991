# The steps of the set-up, each a no-op when its work is done. Sourced by setup/run.

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
fail() { printf 'railhead: %s\n' "$*" >&2; exit 1; }

require_root() {
  [ "$(id -u)" -eq 0 ] || fail "'npm run $1' needs root: it installs missing packages and makes network namespaces; run it with sudo"
}

missing_debian_packages() {
  sed 's/#.*//' setup/packages.txt | tr -s ' \n' '\n' | while read -r package; do
    [ -n "$package" ] || continue
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || printf '%s ' "$package"
  done
}

install_debian_packages() {
  command -v apt-get >/dev/null || fail "this host has no apt-get; Railhead's set-up knows Debian 12 and 13"
  missing=$(missing_debian_packages)
  [ -n "$missing" ] || return 0
  say "Debian packages: installing $missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q update >&2 || fail "apt-get update failed: see the lines above; a Debian mirror must be reachable"
  # shellcheck disable=SC2086 # a list of names, meant to be split
  apt-get -q -y --no-install-recommends install $missing >&2 || fail "apt-get could not install: $missing"
}

node_architecture() {
  case $(uname -m) in
    x86_64) echo x64 ;;
    aarch64) echo arm64 ;;
    *) fail "no Node is packaged for $(uname -m); x86_64 and aarch64 are supported" ;;
  esac
}

# node_modules is complete when it was made, to the end, from this lock file.
npm_stamp() {
  { cat package-lock.json .npmrc; uname -m; } | sha256sum | cut -d' ' -f1
}

install_npm_packages() {
  stamp=node_modules/.railhead-setup
  [ "$(cat "$stamp" 2>/dev/null)" != "$(npm_stamp)" ] || return 0
  command -v npm >/dev/null || fail "npm is missing: install any Node >= 18 with npm >= 9 (Debian: apt-get install npm)"
  say "npm packages: installing from package-lock.json"
  npm ci --no-fund --no-audit --loglevel=error >&2 || fail "npm ci failed: see the lines above; the npm registry must be reachable"
  compile_zstd
  npm_stamp >"$stamp"
}

# zstd-napi offers a prebuilt binary from a host that many sites cannot reach, so it is compiled, against the headers of the
# project's own Node and by node-gyp of the lock file: Debian's own node-gyp links every module with Debian's libnode, and a
# process with two Nodes in it crashes.
compile_zstd() {
  node_package=$root/node_modules/node-linux-$(node_architecture)
  "$node_package/bin/node" --version >/dev/null 2>&1 ||
    fail "Node 26 does not start: install libatomic1 (apt-get install libatomic1)"
  say "npm packages: compiling zstd-napi (about a minute)"
  log=$(mktemp)
  # What npm was told about another Node reaches node-gyp by the environment, before its own flags.
  if ! (cd node_modules/zstd-napi &&
    npm_config_nodedir=$node_package "$node_package/bin/node" "$root/node_modules/node-gyp/bin/node-gyp.js" rebuild \
      --nodedir="$node_package") >"$log" 2>&1; then
    cat "$log" >&2
    fail "zstd-napi did not compile: it needs python3, make and g++ (apt-get install python3 make g++)"
  fi
  rm -f "$log"
}

use_project_node() {
  PATH=$root/node_modules/node-linux-$(node_architecture)/bin:$root/node_modules/.bin:$PATH
  export PATH
}

static_checks() {
  say "format, lint and types"
  biome ci .
  tsc --noEmit
}
