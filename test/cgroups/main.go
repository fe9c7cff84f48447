package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
	"github.com/workload-resizer/workload-resizer/agent/usage"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "work" {
		work(os.Args[2])
		return
	}
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "cgroups: this is the first process of a virtual machine: run make test-cgroups")
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Println("FAIL:", err)
	} else {
		fmt.Println("PASS")
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART)
}

func run() error {
	if err := boot(); err != nil {
		return fmt.Errorf("prepare the machine: %w", err)
	}
	var kernel unix.Utsname
	if err := unix.Uname(&kernel); err != nil {
		return err
	}
	fmt.Println("kernel", unix.ByteSliceToString(kernel.Release[:]))
	agent, err := readAgent()
	if err != nil {
		return err
	}
	if agent != nil {
		return agent.run()
	}
	if err := loadDisk(); err != nil {
		return err
	}
	if err := createAll(); err != nil {
		return fmt.Errorf("create the control groups: %w", err)
	}
	tree, err := cgroup.Open(cgroup.DefaultRoot)
	if err != nil {
		return err
	}
	usages, err := observe(tree)
	if err != nil {
		return err
	}
	return check(usages)
}

// observe measures the containers while they work, as the agent does on a node.
func observe(tree *cgroup.Tree) (map[string]usage.Usage, error) {
	sampler := usage.NewSampler(tree)
	if err := sampler.Sample(); err != nil {
		return nil, err
	}
	var running []*exec.Cmd
	for _, c := range containers {
		cmd, err := c.start()
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", c.work, err)
		}
		running = append(running, cmd)
	}
	for range samples {
		time.Sleep(interval)
		if err := sampler.Sample(); err != nil {
			return nil, err
		}
	}
	usages := map[string]usage.Usage{}
	for _, u := range sampler.Fold() {
		usages[u.ContainerID] = u
	}
	record()
	for _, cmd := range running {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return usages, nil
}

// boot does what the init system of a node does.
func boot() error {
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"cgroup2", cgroup.DefaultRoot},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.at, err)
		}
	}
	return writePause()
}

// loadDisk creates a RAM disk: files in the page cache of a disk can be reclaimed, unlike those in
// memory.
func loadDisk() error { return loadModule("/brd.ko", fmt.Sprintf("rd_nr=1 rd_size=%d", diskBytes>>10)) }

// loadModule loads a module of the kernel.
func loadModule(path, parameters string) error {
	module, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = module.Close() }()
	if err := unix.FinitModule(int(module.Fd()), parameters, 0); err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	return nil
}

// record prints the files of all groups, for the tests of agent/cgroup.
func record() {
	fmt.Println("BEGIN RECORD")
	for _, c := range containers {
		for _, name := range strings.Fields("cpu.stat cpu.pressure memory.current memory.stat memory.peak memory.events memory.pressure pids.current cpu.max memory.max") {
			if content, err := os.ReadFile(c.dir() + "/" + name); err == nil {
				fmt.Printf("-- %s/%s --\n%s", strings.TrimPrefix(c.dir(), cgroup.DefaultRoot+"/"), name, content)
			}
		}
	}
	fmt.Println("END RECORD")
}
