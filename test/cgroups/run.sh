#!/bin/bash
# Boots a kernel in a virtual machine whose first process is the command in this folder.
# Usage: test/cgroups/run.sh DIR, with the kernel vmlinuz and its module brd.ko or brd.ko.xz. The files
# that the kernel showed are in DIR/record.txt afterwards.
set -euo pipefail
kernel=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
CGO_ENABLED=0 go build -o "$dir/root/init" ./test/cgroups
if [ -e "$kernel/brd.ko" ]; then
  cp "$kernel/brd.ko" "$dir/root"
else
  xz --decompress --stdout "$kernel/brd.ko.xz" >"$dir/root/brd.ko"
fi
(cd "$dir/root" && find . | cpio --quiet --create --format=newc) >"$dir/initrd"
# No acceleration: it is not available on all machines, and nothing here needs it. QEMU 7.2 does not
# emulate cmpxchg16b as Linux 6.12 needs it.
timeout 300 qemu-system-x86_64 -accel tcg -cpu max,cx16=off -m 1024 -smp 2 -nographic -no-reboot -nic none \
  -kernel "$kernel/vmlinuz" -initrd "$dir/initrd" -append 'console=ttyS0 quiet psi=1 panic=-1' </dev/null |
  tr -d '\r' | tee "$dir/log" | sed '/^BEGIN RECORD/,/^END RECORD/d'
sed -n '/^BEGIN RECORD/,/^END RECORD/p' "$dir/log" | grep -v ' RECORD$' >"$kernel/record.txt"
grep -qx PASS "$dir/log"
