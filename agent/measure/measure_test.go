package measure

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/machine"
)

func thisMachine(tb testing.TB) Limits {
	tb.Helper()
	m, err := machine.Read(os.DirFS("/"))
	if err != nil {
		tb.Fatal(err)
	}
	return Limits{CPUs: m.CPUs.List(), Sharing: m.Sharing, CacheBytes: m.CacheBytes, MemoryBytes: m.MemoryBytes}
}

// unit is the CPU time of a unit of work of spinning.
const unit = time.Millisecond / 5

// spinning is a kernel that computes for so long.
func spinning(name string) kernel.Kernel {
	return kernel.Kernel{Name: name, Unit: "M/s", Amount: 1, Units: 1, New: func(int) kernel.Work {
		return func() error {
			for began := cpuTime(); cpuTime()-began < unit; {
			}
			return nil
		}
	}}
}

// patience is a budget that is enough on a machine that is very busy, too.
const patience = 5 * time.Second

func TestMeasure(t *testing.T) {
	t.Run("scores are of cpu time whatever else runs", scoresAreOfCPUTimeWhateverElseRuns)
	t.Run("a thread that does not run has the same score", aThreadThatDoesNotRunHasTheSameScore)
	t.Run("full keeps its budget and says what was left out", fullKeepsItsBudgetAndSaysWhatWasLeftOut)
	t.Run("full says that a quota is too small", fullSaysThatAQuotaIsTooSmall)
	t.Run("full ends at once when told to", fullEndsAtOnceWhenToldTo)
	t.Run("a wrong result is no score", aWrongResultIsNoScore)
	t.Run("a spot check is of one thread", aSpotCheckIsOfOneThread)
}

func scoresAreOfCPUTimeWhateverElseRuns(t *testing.T) {
	// A unit takes 0.2 ms of CPU time, so a thread does 5000 of them in a second of
	// it, however long it has to wait for that.
	l := thisMachine(t)
	scores, skipped, err := Full(t.Context(), []kernel.Kernel{spinning("spin")}, l, patience)
	if err != nil || len(scores) != 1 {
		t.Fatal(scores, skipped, err)
	}
	s := scores[0]
	if perVCPU := s.All / float64(len(l.CPUs)); perVCPU < 4000 || perVCPU > 5000 || s.Single < 4000 || s.Single > 5000 || s.Runs < leastRuns {
		t.Errorf("got %+v, want 5000 per vCPU", s)
	}
}

func aThreadThatDoesNotRunHasTheSameScore(t *testing.T) {
	// As under a quota of less than half: by the clock on the wall it is 2500 at most.
	waiting := spinning("wait")
	spin := waiting.New
	waiting.New = func(bytes int) kernel.Work {
		work := spin(bytes)
		return func() error {
			time.Sleep(unit)
			return work()
		}
	}
	l := thisMachine(t)
	scores, skipped, err := Full(t.Context(), []kernel.Kernel{waiting}, l, patience)
	if err != nil || len(scores) != 1 {
		t.Fatal(scores, skipped, err)
	}
	if s := scores[0]; s.All/float64(len(l.CPUs)) < 3500 || s.Single < 3500 {
		t.Errorf("got %+v, want some 5000 per vCPU", s)
	}
}

func fullKeepsItsBudgetAndSaysWhatWasLeftOut(t *testing.T) {
	// No repetition of the second kernel is done in its part of the time.
	fast, slow := spinning("fast"), spinning("slow")
	slow.Units = 1 << 20
	kernels := []kernel.Kernel{fast, slow}
	const budget = 2 * time.Second
	began := time.Now()
	scores, skipped, err := Full(t.Context(), kernels, thisMachine(t), budget)
	// Ten times that is for a machine that is very busy; the slow kernel takes minutes.
	if took := time.Since(began); took > 10*budget {
		t.Errorf("took %v of %v", took, budget)
	}
	switch {
	case err != nil && len(skipped) == 2: // On a machine that is very busy.
	case err != nil, len(skipped) == 0, skipped[len(skipped)-1].Kernel != "slow", len(scores)+len(skipped) != 2:
		t.Errorf("got %v, %v, %v", scores, skipped, err)
	}
}

func fullSaysThatAQuotaIsTooSmall(t *testing.T) {
	l := thisMachine(t)
	l.Quota = 0.001
	_, _, err := Full(t.Context(), kernel.All(), l, Budget)
	if err == nil || !strings.Contains(err.Error(), "the CPU quota of 0.001 CPUs lets too little be measured") {
		t.Errorf("got %v", err)
	}
}

func fullEndsAtOnceWhenToldTo(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	told := errors.New("told to")
	var units atomic.Int64
	endless := kernel.Kernel{Name: "endless", Units: 1 << 30, New: func(int) kernel.Work {
		return func() error {
			if units.Add(1) == 100 {
				cancel(told)
			}
			return nil
		}
	}}
	if _, _, err := Full(ctx, []kernel.Kernel{endless}, thisMachine(t), Budget); !errors.Is(err, told) {
		t.Errorf("got %v", err)
	}
}

func aWrongResultIsNoScore(t *testing.T) {
	broken := errors.New("broken")
	k := kernel.Kernel{Name: "broken", Units: 1, New: func(int) kernel.Work { return func() error { return broken } }}
	if _, _, err := Full(t.Context(), []kernel.Kernel{k}, thisMachine(t), Budget); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := Spot(t.Context(), []kernel.Kernel{k}, thisMachine(t), SpotBudget); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func aSpotCheckIsOfOneThread(t *testing.T) {
	scores, err := Spot(t.Context(), []kernel.Kernel{spinning("spin")}, thisMachine(t), patience)
	if err != nil || len(scores) != 1 {
		t.Fatal(scores, err)
	}
	if s := scores[0]; s.All != 0 || s.Single < 4000 || s.Single > 5000 {
		t.Errorf("got %+v, want 5000 of one thread", s)
	}
}
