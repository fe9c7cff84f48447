package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

const (
	interval = time.Second
	samples  = 12
)

// container is a control group and what runs in it.
type container struct {
	// parent is the directory of the pod, and name that of the container.
	parent, name string
	work         string
	// settings are the limits of the group, by file.
	settings map[string]string
}

const (
	systemd  = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0b7a2e7c_6a3c_4d1b_9f0e_5b8f6a1c2d3e.slice"
	cgroupfs = "kubelet/kubepods/besteffort/pod1c8b3f8d-7b4d-4e2c-8a1f-6c9a7b2d3e4f"
)

// id returns the ID of a container.
func id(digit string) string { return strings.Repeat(digit, 64) }

// containers are in the order of their creation: the first of a pod is its sandbox.
var containers = []container{
	{systemd, "cri-containerd-" + id("a") + ".scope", "pause", nil},
	{systemd, "cri-containerd-" + id("1") + ".scope", "burn", map[string]string{"cpu.max": "20000 100000"}},
	{systemd, "cri-containerd-" + id("2") + ".scope", "hold", nil},
	{systemd, "cri-containerd-" + id("3") + ".scope", "spike", nil},
	{cgroupfs, id("b"), "pause", nil},
	{cgroupfs, id("4"), "cache", nil},
	{cgroupfs, id("5"), "cachespike", nil},
	{cgroupfs, id("6"), "limit", map[string]string{"memory.max": fmt.Sprint(cacheLimit)}},
}

func (c *container) dir() string { return filepath.Join(cgroup.DefaultRoot, c.parent, c.name) }

// createAll creates the groups, and lets their parents count.
func createAll() error {
	for _, c := range containers {
		dir := cgroup.DefaultRoot
		for _, part := range strings.Split(path.Join(c.parent, c.name), "/") {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+cpu +memory +pids"), 0o644); err != nil {
				return err
			}
			dir = filepath.Join(dir, part)
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
		for file, value := range c.settings {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// start starts the container's process.
func (c *container) start() (*exec.Cmd, error) {
	group, err := os.Open(c.dir())
	if err != nil {
		return nil, err
	}
	defer func() { _ = group.Close() }()
	cmd := exec.Command("/proc/self/exe", "work", c.work)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
	return cmd, cmd.Start()
}
