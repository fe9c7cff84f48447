package machine

import (
	"os"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"
)

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

const (
	intel = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz\n\nprocessor\t: 1\nvendor_id\t: GenuineIntel\nmodel\t\t: 1\n"
	arm   = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\nCPU revision\t: 1\n"
)

func TestRead(t *testing.T) {
	pod := fstest.MapFS{
		"proc/cpuinfo":                  file(intel),
		"proc/sys/kernel/osrelease":     file("6.12.1\n"),
		"proc/meminfo":                  file("MemTotal:       16384 kB\nMemAvailable:    8192 kB\n"),
		"proc/self/status":              file("Name:\tbench\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n"),
		"proc/self/cgroup":              file("0::/\n"),
		"sys/devices/system/cpu/online": file("0-3\n"),
		"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": file("0,2\n"),
		"sys/devices/system/cpu/cpu0/cache/index0/level":            file("1\n"),
		"sys/devices/system/cpu/cpu0/cache/index0/size":             file("48K\n"),
		"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list":  file("0\n"),
		"sys/devices/system/cpu/cpu0/cache/index1/level":            file("3\n"),
		"sys/devices/system/cpu/cpu0/cache/index1/size":             file("32768K\n"),
		"sys/devices/system/cpu/cpu0/cache/index1/shared_cpu_list":  file("0,2\n"),
		"sys/devices/system/cpu/cpu1/cache/index0/level":            file("3\n"),
		"sys/devices/system/cpu/cpu1/cache/index0/size":             file("16384K\n"),
		"sys/devices/system/cpu/cpu1/cache/index0/shared_cpu_list":  file("1,3\n"),
		"sys/devices/system/cpu/cpu2/cache/index0/level":            file("3\n"),
		"sys/devices/system/cpu/cpu2/cache/index0/size":             file("32768K\n"),
		"sys/devices/system/cpu/cpu2/cache/index0/shared_cpu_list":  file("0,2\n"),
	}
	got, err := Read(pod)
	if err != nil {
		t.Fatal(err)
	}
	want := Machine{
		CPUModel: "Intel-6-143", CPUName: "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", Kernel: "6.12.1",
		Online: cpuset.New(0, 1, 2, 3), CPUs: cpuset.New(0, 1, 2, 3), ThreadsPerCore: 2, CacheBytes: 48 << 20,
		MemoryBytes: 8 << 20,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(cpuset.CPUSet.Equals)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMachine(t *testing.T) {
	t.Run("fails without usable vCPUs", failsWithoutUsableVCPUs)
	t.Run("names the CPU model as labels do", namesTheCPUModelAsLabelsDo)
	t.Run("counts the vCPUs that share a core", countsTheVCPUsThatShareACore)
}

func failsWithoutUsableVCPUs(t *testing.T) {
	for name, root := range map[string]fstest.MapFS{
		"no usable vCPU":  {"sys/devices/system/cpu/online": file("0-3"), "proc/self/status": file("Cpus_allowed_list:\t4-5\n")},
		"no files":        {},
		"an invalid list": {"sys/devices/system/cpu/online": file("0-x"), "proc/self/status": file("Cpus_allowed_list:\t0\n")},
	} {
		if m, err := Read(root); err == nil {
			t.Errorf("%s: read %+v", name, m)
		}
	}
}

func TestReadThisMachine(t *testing.T) {
	m, err := Read(os.DirFS("/"))
	if err != nil {
		t.Fatal(err)
	}
	if m.VCPUs() != runtime.NumCPU() || m.Kernel == "" || m.MemoryBytes < 1<<20 {
		t.Errorf("%+v", m)
	}
}

func namesTheCPUModelAsLabelsDo(t *testing.T) {
	for _, tc := range []struct{ name, cpuinfo, want string }{
		{"Intel", intel, "Intel-6-143"},
		{"AMD", "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t: 1\n", "AMD-25-1"},
		{"Arm", arm, "ARM-0x41-0xd0c"},
		{"keeps the name of another vendor", "vendor_id\t:   Shanghai  \ncpu family\t: 7\nmodel\t: 59\n", "Shanghai-7-59"},
		{"is empty if a part is missing", "vendor_id\t: GenuineIntel\nmodel\t: 143\n", ""},
		{"is empty without information", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := cpuModel(firstValues(tc.cpuinfo)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for _, tc := range []struct {
		name   string
		files  map[string]string
		quota  float64
		memory int64
	}{
		{"version 2, in a container", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, 0.5, 512 << 20},
		{"version 2, no limits", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 0, 0},
		{"version 2, the lowest limit of nested groups", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
		}, 1.5, 0},
		{"version 1", map[string]string{
			"proc/self/cgroup":                             "4:memory:/m\n3:cpu,cpuacct:/a\n0::/\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us":         "5000\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_period_us":        "100000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
			"sys/fs/cgroup/memory/m/memory.limit_in_bytes": "268435456\n",
		}, 0.05, 256 << 20},
		{"version 1, the host's path is not visible", map[string]string{
			"proc/self/cgroup":                    "3:cpu,cpuacct:/kubepods/pod1\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "200000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, 2, 0},
		{"version 1, no limits", map[string]string{
			"proc/self/cgroup": "3:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, 0, 0},
		{"at most the available memory", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/meminfo": "MemAvailable: 1024 kB\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, 0, 1 << 20},
		{"a path outside of the mount", map[string]string{"proc/self/cgroup": "0::/../..\n"}, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			quota, memory := limits(func(name string) string {
				content := tc.files[name]
				for len(content) > 0 && content[len(content)-1] == '\n' && name != "proc/self/cgroup" {
					content = content[:len(content)-1]
				}
				return content
			})
			if quota != tc.quota || memory != tc.memory {
				t.Errorf("got %v CPUs and %d bytes, want %v and %d", quota, memory, tc.quota, tc.memory)
			}
		})
	}
}

// A sandbox may show any text in these files.
func FuzzRead(f *testing.F) {
	f.Add(intel, "0::/a/b\n", "50000 100000", "32768K")
	f.Add(arm, "3:cpu,cpuacct:/\n", "max", "3")
	f.Add("", "0::/../..", "-1 0", "-1K")
	f.Fuzz(func(t *testing.T, cpuinfo, cgroup, quota, cache string) {
		m, err := Read(fstest.MapFS{
			"proc/cpuinfo": file(cpuinfo), "proc/self/status": file("Cpus_allowed_list:\t0-1\n"), "proc/self/cgroup": file(cgroup),
			"proc/meminfo":          file("MemAvailable:" + cache),
			"sys/fs/cgroup/cpu.max": file(quota), "sys/devices/system/cpu/online": file("0-7"),
			"sys/devices/system/cpu/cpu0/cache/index0/level": file("3"), "sys/devices/system/cpu/cpu0/cache/index0/size": file(cache),
		})
		if err != nil {
			t.Fatal(err)
		}
		if m.VCPUs() != 2 || m.Quota < 0 || m.MemoryBytes < 0 || m.CacheBytes < 0 {
			t.Errorf("read %+v", m)
		}
	})
}

func countsTheVCPUsThatShareACore(t *testing.T) {
	siblings := func(cpu string) string { return "sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings_list" }
	// The process may not use 4, so 5 has their core to itself.
	root := fstest.MapFS{
		"sys/devices/system/cpu/online": file("0-5"), "proc/self/status": file("Cpus_allowed_list:\t0-1,5\n"),
		siblings("0"): file("0-1"), siblings("1"): file("0-1"), siblings("5"): file("4-5"),
	}
	m, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{2, 2, 1}; !cmp.Equal(m.Sharing, want) {
		t.Errorf("got %v, want %v", m.Sharing, want)
	}
	delete(root, siblings("1"))
	if m, err = Read(root); err != nil || m.Sharing != nil {
		t.Errorf("the siblings of a vCPU are unknown: got %v, %v, want nil", m.Sharing, err)
	}
}
