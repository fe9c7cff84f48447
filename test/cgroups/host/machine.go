package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// modules are those that the network needs, in the order of loading. Those that a kernel lacks are part
// of it.
var modules = strings.Fields("virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net")

// machine is a virtual machine.
type machine struct {
	command *exec.Cmd
	out     string
	ended   chan struct{}
}

// boot starts a virtual machine that runs the containers of the pod. Its agent reports to a
// server on this machine.
func boot(ctx context.Context, kernel, dir string, n *node, address, authority string) (*machine, error) {
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	config := map[string]any{"pod": n.pod, "args": []string{
		// QEMU's network has this machine's loopback address there.
		"report-usage", "--server", "10.0.2.2:" + port, "--server-name", serverName, "--server-ca-file", "/ca.crt", "--token-file", "/token", "--usage-sample-interval", "1s",
	}}
	var loaded []string
	for _, module := range modules {
		found, err := unpack(kernel, module, root)
		if err != nil {
			return nil, err
		}
		if found {
			loaded = append(loaded, "/"+module+".ko")
		}
	}
	config["modules"] = loaded
	content, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(root, "agent.json"), content, 0o644),
		copyFile(authority, filepath.Join(root, "ca.crt")), copyFile(n.agentToken, filepath.Join(root, "token")),
		build(ctx, filepath.Join(root, "init"), "./test/cgroups"),
		install("bin/workload-resizer", filepath.Join(root, "workload-resizer")),
	); err != nil {
		return nil, err
	}
	initrd := filepath.Join(dir, "initrd")
	pack := exec.CommandContext(ctx, "sh", "-c", `cd "$0" && find . | cpio --quiet --create --format=newc >"$1"`, root, initrd)
	if out, err := pack.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pack the files of the virtual machine: %w: %s", err, out)
	}
	m := &machine{out: filepath.Join(dir, "console"), ended: make(chan struct{})}
	console, err := os.Create(m.out)
	if err != nil {
		return nil, err
	}
	// The same as in run.sh, with a network.
	m.command = exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max,cx16=off", "-m", "2048", "-smp", "2", "-nographic", "-no-reboot",
		"-nic", "user,model=virtio-net-pci", "-kernel", filepath.Join(kernel, "vmlinuz"), "-initrd", initrd, "-append", "console=ttyS0 quiet psi=1 panic=-1")
	m.command.Stdout, m.command.Stderr = console, console
	m.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = m.command.Wait()
		close(m.ended)
	}()
	return m, nil
}

// unpack copies a module of the kernel, and reports whether there is one.
func unpack(kernel, module, root string) (found bool, err error) {
	plain := filepath.Join(kernel, module+".ko")
	if err := copyFile(plain, filepath.Join(root, module+".ko")); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err == nil, err
	}
	if _, err := os.Stat(plain + ".xz"); err != nil {
		return false, nil
	}
	content, err := exec.Command("xz", "--decompress", "--stdout", plain+".xz").Output()
	if err != nil {
		return false, fmt.Errorf("unpack %s.xz: %w", plain, err)
	}
	return true, os.WriteFile(filepath.Join(root, module+".ko"), content, 0o644)
}

// build builds a program that needs no libraries.
func build(ctx context.Context, to, of string) error {
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", to, of)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", of, err, out)
	}
	return nil
}

// install copies a program.
func install(from, to string) error { return errors.Join(copyFile(from, to), os.Chmod(to, 0o755)) }

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

// end ends the virtual machine.
func (m *machine) end() {
	_ = m.command.Process.Kill()
	<-m.ended
}

// log returns what the machine has printed.
func (m *machine) log() io.Reader {
	content, err := os.ReadFile(m.out)
	if err != nil {
		return strings.NewReader(err.Error())
	}
	return bytes.NewReader(content)
}
