package measure

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// throttledEnv makes a test process act as the child that run throttles.
const throttledEnv = "WORKLOAD_RESIZER_TEST_THROTTLED"

// progress is the child's throughput per second of CPU time and of wall time.
type progress struct{ CPU, Wall float64 }

func TestMain(m *testing.M) {
	if os.Getenv(wideEnv) != "" {
		actWide()
		return
	}
	if os.Getenv(throttledEnv) == "" {
		os.Exit(m.Run())
	}
	if err := json.NewEncoder(os.Stdout).Encode(hash()); err != nil {
		panic(err)
	}
}

// hash runs a kernel for half a second of CPU time.
func hash() progress {
	runtime.LockOSThread()
	work := kernel.All()[4].New(0)
	began, used, units := time.Now(), cpuTime(), 0
	for ; cpuTime()-used < time.Second/2; units++ {
		if err := work(); err != nil {
			panic(err)
		}
	}
	return progress{float64(units) / (cpuTime() - used).Seconds(), float64(units) / time.Since(began).Seconds()}
}

// run runs the child. A throttled child runs only half of every 20 ms, as under a CPU quota.
// This way of throttling needs no privileges.
func (p *progress) run(t *testing.T, throttled bool) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), throttledEnv+"=1", "GOMAXPROCS=1")
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- json.NewDecoder(out).Decode(p) }()
	half := time.NewTicker(10 * time.Millisecond)
	defer half.Stop()
	for stopped := false; ; stopped = !stopped {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			// It may have been stopped before it ended.
			_ = child.Process.Signal(syscall.SIGCONT)
			if err := child.Wait(); err != nil {
				t.Fatal(err)
			}
			return
		case <-half.C:
		}
		signal := syscall.SIGCONT
		if throttled && !stopped {
			signal = syscall.SIGSTOP
		}
		// The child may have just ended.
		_ = child.Process.Signal(signal)
	}
}

func TestThrottle(t *testing.T) {
	t.Run("throttling does not change the score", throttlingDoesNotChangeTheScore)
}

func throttlingDoesNotChangeTheScore(t *testing.T) {
	// The best of three, since other processes on this machine disturb runs, too.
	var free, throttled progress
	for range 3 {
		var f, h progress
		f.run(t, false)
		h.run(t, true)
		free.CPU, free.Wall = max(free.CPU, f.CPU), max(free.Wall, f.Wall)
		throttled.CPU, throttled.Wall = max(throttled.CPU, h.CPU), max(throttled.Wall, h.Wall)
	}
	t.Logf("free %+v, throttled %+v", free, throttled)
	if change := throttled.CPU / free.CPU; change < 0.75 || change > 1.33 {
		t.Errorf("per CPU time, the score changes by the factor %.2f when throttled", change)
	}
	if share := throttled.Wall / throttled.CPU; share > 0.65 {
		t.Errorf("the ratio of wall-time and CPU-time throughput is %.2f: the child was not throttled", share)
	}
}
