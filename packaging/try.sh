#!/usr/bin/env bash
# try.sh PACKAGES SUITE: installs each package of a folder on a bare Debian (bookworm, trixie) and uses
# it there, without and with the libraries that are optional. Needs root and debootstrap; the machine's
# own settings of apt and pip are taken over. Bare systems are kept in PACKAGES/bare-SUITE.
set -euo pipefail
[ -n "${TRY_INSIDE:-}" ] || TRY_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"  # mounts end with it
packages=$(cd "$1" && pwd) suite=$2
here=$(cd "$(dirname "$0")/.." && pwd)
base=$packages/bare-$suite
if [ ! -e "$base/complete" ]; then
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$base" >"$packages/debootstrap.log"
  for file in /etc/apt/apt.conf.d/99* /etc/pip.conf /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || { mkdir -p "$base${file%/*}"; cp -L "$file" "$base$file"; }
  done
  touch "$base/complete"
fi

failed=
for form in deb archive wheel; do
  root=$packages/try-$form
  rm -rf "$root"
  cp -a "$base" "$root"
  mkdir -p "$root/try/packages"
  cp "$packages"/*.deb "$packages"/*.tar.gz "$packages"/*.whl "$root/try/packages"
  cp "$here/packaging/use.sh" "$here/README.md" "$here/tests/ingest/parquet/plain.parquet" "$root/try"
  for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt chroot "$root" /bin/sh /try/use.sh "$form" || failed="$failed $form"
  for folder in proc sys dev; do umount -l "$root/$folder"; done
  rm -rf --one-file-system "$root"
done
[ -z "$failed" ] || { echo "try.sh: failed on $suite:$failed" >&2; exit 1; }
echo "try.sh: deb, archive and wheel work on $suite"
