package usage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

var groups = flag.String("groups", "", "with -bench Sample, a cgroup v2 group to create the groups of containers in; by default files of a recorded kernel are read")

// BenchmarkSample measures a sample of 110 pods with 300 containers.
func BenchmarkSample(b *testing.B) {
	const pods, containers = 110, 300
	root := *groups
	if root == "" {
		root = b.TempDir()
	}
	record, err := os.ReadFile(filepath.Join("..", "cgroup", "testdata", "linux-6.12.txt"))
	if err != nil {
		b.Fatal(err)
	}
	var dirs []string
	create := func(dir string) {
		if err := os.Mkdir(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		dirs = append(dirs, dir)
		if *groups != "" { // The kernel may lack a controller, or count it in version 1.
			for _, controller := range []string{"+cpu", "+memory"} {
				_ = os.WriteFile(filepath.Join(filepath.Dir(dir), "cgroup.subtree_control"), []byte(controller), 0o644)
			}
		}
	}
	// The files of one container, where they are not the kernel's.
	files := strings.Split("\n"+string(record), "\n-- ")[1:11]
	class := filepath.Join(root, "kubepods.slice")
	create(class)
	class = filepath.Join(class, "kubepods-burstable.slice")
	create(class)
	for i := range pods {
		pod := filepath.Join(class, fmt.Sprintf("kubepods-burstable-pod%08x_6a3c_4d1b_9f0e_5b8f6a1c2d3e.slice", i))
		create(pod)
		// The first is the sandbox.
		for j := i; j < pods+containers; j += pods {
			dir := filepath.Join(pod, fmt.Sprintf("cri-containerd-%064x.scope", j))
			create(dir)
			if *groups != "" {
				continue
			}
			for _, file := range files {
				path, content, _ := strings.Cut(file, " --\n")
				if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), []byte(content+"\n"), 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	if *groups == "" {
		if err := os.WriteFile(filepath.Join(root, "cgroup.controllers"), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() {
		for i := range dirs {
			_ = unix.Rmdir(dirs[len(dirs)-1-i])
		}
	})
	tree, err := cgroup.Open(root)
	if err != nil {
		b.Fatal(err)
	}
	s := NewSampler(tree)
	before := cpu(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Sample(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N)/1e6, "CPU-ms/op")
	b.ReportMetric(float64(s.Len()), "containers")
}

// cpu returns the CPU time of this process, in nanoseconds.
func cpu(b *testing.B) int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
