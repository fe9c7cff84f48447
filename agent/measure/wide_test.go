package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// wideEnv makes a test process act as an agent on a machine with that many vCPUs and that limit of
// memory.
const wideEnv = "WORKLOAD_RESIZER_TEST_WIDE"

// wide is what that process prints: the kernels that it can measure, and the most memory that it had.
type wide struct {
	Kernels  []string
	Resident int64
}

func measureWide(t *testing.T, threads int, limit int64) wide {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", wideEnv, threads, limit))
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	var w wide
	if err := json.Unmarshal(out, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

func actWide() {
	var threads int
	l := Limits{CacheBytes: 512 << 20}
	if _, err := fmt.Sscan(os.Getenv(wideEnv), &threads, &l.MemoryBytes); err != nil {
		panic(err)
	}
	for thread := range threads {
		l.CPUs = append(l.CPUs, thread%runtime.NumCPU())
	}
	kernels, data, _ := withMemory(kernel.All(), l)
	heap := newHeap(kernels, threads, l.MemoryBytes)
	kernels, _ = heap.withHeap(kernels, data)
	defer tune(threads, heap.most(kernels, data))()
	// Other tests keep the vCPUs busy, and threads would never run at the priority of an agent: they would wait forever.
	crew := newCrew(l.CPUs, func(int) { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, lowestPriority) })
	defer crew.dismiss()
	var w wide
	var trials []*trial
	for _, k := range kernels {
		trials = append(trials, newTrial(crew, k, l.kinds(), int(data)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	// The kernel with the most garbage, with all threads; it takes seconds on two vCPUs. The
	// others have what they keep.
	if _, err := trials[0].ways[0](ctx); err != nil {
		panic(err)
	}
	for _, t := range trials {
		w.Kernels = append(w.Kernels, t.kernel.Name)
	}
	self, err := procfs.Self()
	if err != nil {
		panic(err)
	}
	status, err := self.NewStatus()
	if err != nil {
		panic(err)
	}
	w.Resident = int64(status.VmHWM)
	if err := json.NewEncoder(os.Stdout).Encode(w); err != nil {
		panic(err)
	}
}
