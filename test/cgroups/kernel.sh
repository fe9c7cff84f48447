#!/bin/bash
# Unpacks Debian's kernel for virtual machines. Usage: test/cgroups/kernel.sh DIR
set -euo pipefail
mkdir -p "$1"
dir=$(mktemp -d "$1/XXXXXX")
trap 'rm -rf "$dir"' EXIT
# The package depends on that of the current version.
package() { apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: //p' | head -1; }
download() { (cd "$dir" && apt-get download -qq -o APT::Sandbox::User= "$(package)"); }
download 2>/dev/null || { apt-get update -qq && download; } || {
  echo 'apt-get cannot download the package linux-image-cloud-amd64: set KERNEL to a folder with vmlinuz and the module brd.ko of a Linux 5.19 or later for x86-64'
  exit 1
}
dpkg-deb -x "$dir"/linux-image-*.deb "$dir"
# RAM disks, and the network.
for module in brd virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net; do
  find "$dir" -name "$module.ko*" -exec mv {} "$1" \;
done
mv "$dir"/boot/vmlinuz-* "$1/vmlinuz"
