#!/bin/sh
# debootstrapOnce.sh TOOL BASE: makes a minimal Debian 13 in BASE unless it is there already.
set -eu
tool=$1 base=$2
[ ! -e "$base/etc/debian_version" ] || exit 0
rm -rf "$base.part"
mkdir -p "$base.part"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | grep debian | head -n 1)
DEBOOTSTRAP_DIR=$tool/usr/share/debootstrap "$tool/usr/sbin/debootstrap" --variant=minbase trixie "$base.part" "$mirror" >&2
mv "$base.part" "$base"
