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

// unit is the CPU time of a unit of spinning's work.
const unit = time.Millisecond / 5

// spinning returns a kernel that computes for one unit.
func spinning(name string) kernel.Kernel {
	return kernel.Kernel{Name: name, Unit: "M/s", Amount: 1, Units: 1, New: func(int) kernel.Work {
		return func() error {
			for began := cpuTime(); cpuTime()-began < unit; {
			}
			return nil
		}
	}}
}

// patience is a budget that suffices even on a very busy machine.
const patience = 5 * time.Second

func TestMeasure(t *testing.T) {
	t.Run("scores use CPU time regardless of other load", scoresUseCPUTimeRegardlessOfOtherLoad)
	t.Run("waiting does not change the score", waitingDoesNotChangeTheScore)
	t.Run("full stays within its budget and names skipped kernels", fullStaysWithinItsBudgetAndNamesSkippedKernels)
	t.Run("full creates no more data when its budget is used up", fullCreatesNoMoreDataWhenItsBudgetIsUsedUp)
	t.Run("full rejects a quota that is too low", fullRejectsAQuotaThatIsTooLow)
	t.Run("full ends immediately when its context ends", fullEndsImmediatelyWhenItsContextEnds)
	t.Run("a wrong result is an error", aWrongResultIsAnError)
	t.Run("a spot check uses one thread", aSpotCheckUsesOneThread)
}

func scoresUseCPUTimeRegardlessOfOtherLoad(t *testing.T) {
	// A unit takes 0.2 ms of CPU time, so a thread does 5000 of them per CPU second, no matter
	// how long it waits for the CPU.
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

func waitingDoesNotChangeTheScore(t *testing.T) {
	// As under a quota of less than half: per wall-clock second, it would be at most 2500.
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
		t.Errorf("got %+v, want about 5000 per vCPU", s)
	}
}

func fullStaysWithinItsBudgetAndNamesSkippedKernels(t *testing.T) {
	// No repetition of the second kernel completes in its share of the time.
	fast, slow := spinning("fast"), spinning("slow")
	slow.Units = 1 << 20
	kernels := []kernel.Kernel{fast, slow}
	const budget = 2 * time.Second
	began := time.Now()
	scores, skipped, err := Full(t.Context(), kernels, thisMachine(t), budget)
	// Ten times the budget allows for a very busy machine. The slow kernel takes minutes.
	if took := time.Since(began); took > 10*budget {
		t.Errorf("took %v, budget %v", took, budget)
	}
	switch {
	case err != nil && len(skipped) == 2: // On a very busy machine.
	case err != nil, len(skipped) == 0, skipped[len(skipped)-1].Kernel != "slow", len(scores)+len(skipped) != 2:
		t.Errorf("got %v, %v, %v", scores, skipped, err)
	}
}

func fullCreatesNoMoreDataWhenItsBudgetIsUsedUp(t *testing.T) {
	const budget = 10 * time.Millisecond
	slow, unused := spinning("slow"), spinning("unused")
	create := slow.New
	slow.New = func(bytes int) kernel.Work {
		time.Sleep(2 * budget)
		return create(bytes)
	}
	unused.New = func(int) kernel.Work {
		t.Error("it creates data without time to use it")
		return create(0)
	}
	scores, skipped, err := Full(t.Context(), []kernel.Kernel{slow, unused}, thisMachine(t), budget)
	if len(scores) != 0 || len(skipped) != 2 || err == nil || !strings.Contains(err.Error(), "no kernel was measured within 10ms") {
		t.Errorf("got %v, %v, %v", scores, skipped, err)
	}
}

func fullRejectsAQuotaThatIsTooLow(t *testing.T) {
	l := thisMachine(t)
	l.Quota = 0.001
	_, _, err := Full(t.Context(), kernel.All(), l, Budget)
	if err == nil || !strings.Contains(err.Error(), "a CPU quota of 0.001 CPUs is too low to measure") {
		t.Errorf("got %v", err)
	}
}

func fullEndsImmediatelyWhenItsContextEnds(t *testing.T) {
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

func aWrongResultIsAnError(t *testing.T) {
	broken := errors.New("broken")
	k := kernel.Kernel{Name: "broken", Units: 1, New: func(int) kernel.Work { return func() error { return broken } }}
	if _, _, err := Full(t.Context(), []kernel.Kernel{k}, thisMachine(t), Budget); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, err := Spot(t.Context(), []kernel.Kernel{k}, thisMachine(t), SpotBudget); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func aSpotCheckUsesOneThread(t *testing.T) {
	scores, err := Spot(t.Context(), []kernel.Kernel{spinning("spin")}, thisMachine(t), patience)
	if err != nil || len(scores) != 1 {
		t.Fatal(scores, err)
	}
	if s := scores[0]; s.All != 0 || s.Single < 4000 || s.Single > 5000 {
		t.Errorf("got %+v, want 5000 for one thread", s)
	}
}
