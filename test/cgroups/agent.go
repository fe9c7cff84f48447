package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// agent is what the program of the node agent reports about, and to whom.
type agent struct {
	// Pod is the UID of a pod with a container that burns CPU, and one that holds memory.
	Pod string `json:"pod"`
	// Args are the arguments of the program.
	Args []string `json:"args"`
	// Modules are the files of the modules that the network needs, in the order of loading.
	Modules []string `json:"modules"`
}

// readAgent returns the agent, or nil if none runs in this virtual machine.
func readAgent() (*agent, error) {
	content, err := os.ReadFile("/agent.json")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a := &agent{}
	return a, json.Unmarshal(content, a)
}

// run runs the containers of the pod, and the agent's program, until the virtual machine is ended.
func (a *agent) run() error {
	for _, module := range a.Modules {
		if err := loadModule(module, ""); err != nil {
			return err
		}
	}
	if err := connect(); err != nil {
		return fmt.Errorf("connect to the network: %w", err)
	}
	parent := filepath.Join("kubepods.slice/kubepods-burstable.slice", "kubepods-burstable-pod"+strings.ReplaceAll(a.Pod, "-", "_")+".slice")
	containers = []container{
		{parent, "cri-containerd-" + id("a") + ".scope", "pause", nil},
		{parent, "cri-containerd-" + id("1") + ".scope", "burn", map[string]string{"cpu.max": "20000 100000"}},
		{parent, "cri-containerd-" + id("2") + ".scope", "hold", nil},
	}
	if err := createAll(); err != nil {
		return fmt.Errorf("create the control groups: %w", err)
	}
	for _, c := range containers {
		if _, err := c.start(); err != nil {
			return fmt.Errorf("start %s: %w", c.work, err)
		}
	}
	cmd := exec.Command("/workload-resizer", a.Args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// connect gives the network card the address that QEMU's own network has for it.
func connect() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	for _, set := range []struct {
		request uint
		value   []byte
	}{{unix.SIOCSIFADDR, []byte{10, 0, 2, 15}}, {unix.SIOCSIFNETMASK, []byte{255, 255, 255, 0}}, {unix.SIOCSIFFLAGS, nil}} {
		card, err := unix.NewIfreq("eth0")
		if err != nil {
			return err
		}
		if set.value == nil {
			card.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		} else if err := card.SetInet4Addr(set.value); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(socket, set.request, card); err != nil {
			return err
		}
	}
	return nil
}
