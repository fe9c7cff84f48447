package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/measure"
)

// The environment variables that make a test process act as an agent, which prints its results,
// or as a process that uses a share of every vCPU.
const (
	actAsAgent = "WORKLOAD_RESIZER_TEST_AGENT"
	actAsLoad  = "WORKLOAD_RESIZER_TEST_LOAD"
)

func TestMain(m *testing.M) {
	share, err := strconv.ParseFloat(os.Getenv(actAsLoad), 64)
	switch {
	case err == nil:
		useCPUs(share)
	case os.Getenv(actAsAgent) != "":
		actAgent()
	default:
		os.Exit(m.Run())
	}
}

// result is the result of an agent's process: per benchmark, the score per CPU second of all vCPUs
// and of one.
type result struct {
	All, Single map[string]float64
	OtherLoad   float64
}

func actAgent() {
	node, err := NewNode("/")
	if err != nil {
		panic(err)
	}
	results, err := node.Full(context.Background(), measure.Budget)
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // Not a fault of this program: the machine is busy.
		os.Exit(1)
	}
	r := result{map[string]float64{}, map[string]float64{}, results.OtherLoad}
	for _, s := range results.Scores {
		r.All[s.Kernel.Name], r.Single[s.Kernel.Name] = s.All, s.Single
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		panic(err)
	}
}

// useCPUs computes in every vCPU for a share of the time, until the process is killed.
func useCPUs(share float64) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		panic(err)
	}
	for cpu := range 64 * len(all) {
		if !all.IsSet(cpu) {
			continue
		}
		go func() {
			runtime.LockOSThread()
			var only unix.CPUSet
			only.Set(cpu)
			if err := unix.SchedSetaffinity(0, &only); err != nil {
				panic(err)
			}
			work := kernel.All()[0].New(0)
			began, busy := time.Now(), time.Duration(0)
			for {
				if float64(busy) > share*float64(time.Since(began)) {
					time.Sleep(time.Millisecond)
					continue
				}
				start := time.Now()
				if err := work(); err != nil {
					panic(err)
				}
				busy += time.Since(start)
			}
		}()
	}
	select {}
}

// process returns a process of this test that acts as something else.
func process(b *testing.B, act string) *exec.Cmd {
	p := exec.CommandContext(b.Context(), os.Args[0])
	p.Env = append(os.Environ(), act)
	p.Stderr = os.Stderr
	return p
}

// besideLoad returns what an agent measures next to a process that uses a share of every vCPU.
func besideLoad(b *testing.B, share float64) result {
	if share > 0 {
		load := process(b, fmt.Sprintf("%s=%v", actAsLoad, share))
		if err := load.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() {
			_ = load.Process.Kill()
			_ = load.Wait()
		}()
	}
	output, err := process(b, actAsAgent+"=1").Output()
	if err != nil {
		b.Fatalf("measure at a load of %.0f%%: %v; measure again on a quiet machine", 100*share, err)
	}
	var r result
	if err := json.Unmarshal(output, &r); err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkNextToLoad compares what agents measure on this machine next to processes that use 30%
// and 60% of every vCPU with what they measure without these. The speed of a machine drifts, so each
// run next to load is compared with the mean of the idle runs before and after it. It fails if the
// scores of a kernel that computes differ by more than 5%, or if idle runs do so themselves. See
// make bench-node-load.
func BenchmarkNextToLoad(b *testing.B) {
	const most = 0.05
	for b.Loop() {
		before := besideLoad(b, 0)
		// Not to the test's log, which is truncated after 10 lines.
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "\nOTHERS USE\tBENCHMARK\tALL VCPUS\tIDLE\tDIFFERENCE\tIDLE SPREAD\tSINGLE THREAD\tIDLE\tDIFFERENCE\tIDLE SPREAD\t\n")
		var differ, unsure []string
		for _, share := range []float64{0.3, 0.6, 0.3, 0.6} {
			loaded := besideLoad(b, share)
			after := besideLoad(b, 0)
			for _, k := range kernel.All() {
				all := compare(loaded.All[k.Name], before.All[k.Name], after.All[k.Name])
				single := compare(loaded.Single[k.Name], before.Single[k.Name], after.Single[k.Name])
				fmt.Fprintf(w, "%.0f%%\t%s\t%s\t%s\t\n", 100*loaded.OtherLoad, k.Name, all, single)
				switch name := fmt.Sprintf("%s at %.0f%%", k.Name, 100*share); {
				case k.Memory:
				case !(math.Abs(all.idleSpread) <= most && math.Abs(single.idleSpread) <= most):
					unsure = append(unsure, name)
				case !(math.Abs(all.difference) <= most && math.Abs(single.difference) <= most):
					differ = append(differ, name)
				}
			}
			fmt.Fprintf(w, "\tothers used %.0f%% and %.0f%% in the idle runs\t\n", 100*before.OtherLoad, 100*after.OtherLoad)
			before = after
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		if len(differ) > 0 {
			b.Errorf("scores differ by more than %.0f%%: %s", 100*most, strings.Join(differ, ", "))
		}
		if len(unsure) > 0 {
			b.Errorf("idle runs differ by more than %.0f%% themselves; measure again on a quiet machine: %s", 100*most, strings.Join(unsure, ", "))
		}
	}
}

// comparison compares a score with the idle runs before and after it.
type comparison struct {
	score, idle, difference, idleSpread float64
}

func compare(score, before, after float64) comparison {
	idle := (before + after) / 2
	return comparison{score, idle, score/idle - 1, after/before - 1}
}

func (c comparison) String() string {
	return fmt.Sprintf("%.2f\t%.2f\t%+.1f%%\t%+.1f%%", c.score, c.idle, 100*c.difference, 100*c.idleSpread)
}
