package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded creates the groups that a real kernel showed, as make test-cgroups prints them, and
// returns their root.
func recorded(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, file := range strings.Split("\n"+string(content), "\n-- ")[1:] {
		path, content, _ := strings.Cut(file, " --\n")
		files[path] = content + "\n"
	}
	return hierarchy(t, files)
}

func known(n int64) Count { return Count{n, true} }

func TestRead(t *testing.T) {
	for _, tc := range []struct {
		name, file, id string
		want           Reading
	}{
		{
			"a container that its CPU limit throttles", "linux-6.12.txt", id("1"), Reading{
				CPU: known(2726863), Periods: known(140), Throttled: known(131), CPUWait: known(12296075), MemoryWait: known(0),
				Memory: known(5120000), Inactive: known(0), Peak: known(5120000), Faulted: known(120*pageSize + hugePage), Limited: known(0),
			},
		},
		{"a container that fills the page cache", "linux-6.1.txt", id("4"), Reading{
			CPU: known(2622241), Periods: known(0), Throttled: known(0), CPUWait: known(2364105), MemoryWait: known(0),
			Memory: known(110002176), Inactive: known(105103360), Peak: known(110002176), Faulted: known(121*pageSize + 2*hugePage), Limited: known(0),
		}},
		{"a container that reaches its memory limit", "linux-6.12.txt", id("6"), Reading{
			CPU: known(3516835), Periods: known(0), Throttled: known(0), CPUWait: known(3283131), MemoryWait: known(182330),
			Memory: known(50237440), Inactive: known(47439872), Peak: known(50331648), Faulted: known(122*pageSize + hugePage), Limited: known(220), Limit: known(50331648),
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := Open(recorded(t, tc.file))
			if err != nil {
				t.Fatal(err)
			}
			got, err := tree.Read(find(t, tree, tc.id))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	t.Run("leaves unknown what the kernel does not offer", leavesUnknownWhatTheKernelDoesNotOffer)
	t.Run("reports that a container has ended", reportsThatAContainerHasEnded)
	t.Run("reports files that it may not read", reportsFilesThatItMayNotRead)
	t.Run("reads files that are longer than its buffer", readsFilesThatAreLongerThanItsBuffer)
}

func find(t *testing.T, tree *Tree, id string) Container {
	t.Helper()
	containers, err := tree.Containers()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range containers {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("%s is not among %v", id, containers)
	return Container{}
}

// container creates a container with files, and returns its tree.
func container(t *testing.T, files map[string]string) (*Tree, Container) {
	t.Helper()
	in := map[string]string{}
	for name, content := range files {
		in["kubepods/pod1/"+id("1")+"/"+name] = content
	}
	tree, err := Open(hierarchy(t, in))
	if err != nil {
		t.Fatal(err)
	}
	return tree, find(t, tree, id("1"))
}

func leavesUnknownWhatTheKernelDoesNotOffer(t *testing.T) {
	tree, c := container(t, map[string]string{
		"cpu.stat": busy, "memory.stat": "anon 5\ninactive_file\n", "memory.current": "max\n", "memory.peak": "", "memory.events": "low 0\nmax 3\n",
		"cpu.pressure": "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", "memory.pressure": "some avg10=0.00\n",
	})
	got, err := tree.Read(c)
	if want := (Reading{CPU: known(5_000_000)}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if got.WorkingSet().Known || got.AtCreation() != (Reading{CPU: known(0)}) {
		t.Errorf("unknown values are known: %+v", got)
	}
}

func reportsThatAContainerHasEnded(t *testing.T) {
	tree, c := container(t, map[string]string{"cpu.stat": busy})
	if err := os.RemoveAll(c.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Read(c); !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
}

// A directory in place of the file fails for root, too.
func reportsFilesThatItMayNotRead(t *testing.T) {
	tree, c := container(t, map[string]string{"cpu.stat": busy, "memory.stat/file": ""})
	if _, err := tree.Read(c); err == nil || errors.Is(err, ErrGone) || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/memory.stat: is a directory") {
		t.Errorf("got %v", err)
	}
}

func readsFilesThatAreLongerThanItsBuffer(t *testing.T) {
	tree, c := container(t, map[string]string{"cpu.stat": busy, "memory.stat": strings.Repeat("other 1\n", 10_000) + "inactive_file 7\n", "memory.current": "10\n"})
	got, err := tree.Read(c)
	if err != nil || got.WorkingSet() != known(3) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCounts(t *testing.T) {
	for _, tc := range []struct {
		name      string
		got, want Count
	}{
		{"a counter grows", known(7).Since(known(3)), known(4)},
		{"a counter that was reset has grown from zero", known(3).Since(known(7)), known(3)},
		{"growth since an unknown count is unknown", known(7).Since(Count{}), Count{}},
		{"growth to an unknown count is unknown", Count{}.Since(known(7)), Count{}},
		{"a sum with something unknown is unknown", known(7).Plus(Count{}), Count{}},
		{"a number with a sign is unknown", number([]byte("-1\n")), Count{}},
		{"a number that is too large is unknown", number([]byte("18446744073709551615\n")), Count{}},
		{"a field is found by its whole name", field([]byte("inactive_file_x 1\ninactive_file 2"), "inactive_file"), known(2)},
		{"faults of huge pages can allocate more", faulted([]byte("pgfault 3\nthp_fault_alloc 1\n")), known(3*pageSize + hugePage)},
		{"faults are unknown without their counter", faulted([]byte("thp_fault_alloc 1\n")), Count{}},
		{"a working set is at least zero", (&Reading{Memory: known(1), Inactive: known(2)}).WorkingSet(), known(0)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %v, want %v", tc.got, tc.want)
			}
		})
	}
}
