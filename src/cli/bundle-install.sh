#!/bin/sh
# Installs svc from this folder; nothing is fetched.   sh install.sh [FOLDER]   (by default /opt/svc)
set -eu
target=${1:-/opt/svc}
case $target in /*) ;; *) target=$PWD/$target ;; esac
cd "$(dirname "$0")"
sha256sum --check --quiet SHA256SUMS || { echo "install.sh: files are damaged; nothing was installed" >&2; exit 1; }
mkdir -p "$target"
for part in app runtime licences; do
  rm -rf "$target/$part"
  cp -R "$part" "$target/$part"
done
mkdir -p "$target/bin"
cat > "$target/bin/svc" <<END
#!/bin/sh
exec "$target/runtime/bun" "$target/app/src/main.ts" "\$@"
END
chmod 755 "$target/bin/svc"
echo "installed; now: $target/bin/svc quickstart --data-dir DIR"
