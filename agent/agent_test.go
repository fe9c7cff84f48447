package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/cpuset"

	"github.com/workload-resizer/workload-resizer/agent/deliver"
	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/machine"
	"github.com/workload-resizer/workload-resizer/agent/measure"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// lab is the node of an agent and the receiver of its samples.
type lab struct {
	began  time.Time
	runs   []string // Kind and start in hours, e.g. "full@0s".
	single float64
	busy   int // How many runs will still be disturbed.
	refuse []error
	// claims are the answers to the next claims; after them, all are granted.
	claims []error
	// release is when the node lets pods in, after it began; 0 if it does so now.
	release time.Duration
	// lasts is how long a full run lasts, within its budget.
	lasts   time.Duration
	budgets []time.Duration
	got     []sample.Sample
	said    bytes.Buffer
}

func (l *lab) result(kind string, all float64) (Results, error) {
	l.runs = append(l.runs, kind+"@"+time.Since(l.began).Truncate(time.Hour).String())
	if l.busy > 0 {
		l.busy--
		return Results{}, errors.New("busy")
	}
	return Results{Scores: []measure.Score{{Kernel: kernel.All()[0], All: all, Single: l.single, Spread: 0.004, Disturbed: 0.25, Runs: 5}}, OtherLoad: 0.30004}, nil
}

func (l *lab) Full(_ context.Context, budget time.Duration) (Results, error) {
	l.budgets = append(l.budgets, budget)
	time.Sleep(min(budget, l.lasts))
	return l.result("full", 2*l.single)
}

func (l *lab) Spot(context.Context) (Results, error) { return l.result("spot", 0) }

func (l *lab) claim(context.Context) (release time.Time, err error) {
	if l.release > 0 {
		release = l.began.Add(l.release)
	}
	if len(l.claims) == 0 {
		return release, nil
	}
	err = l.claims[0]
	l.claims = l.claims[1:]
	return time.Time{}, err
}

func (l *lab) deliver(_ context.Context, samples []sample.Sample) error {
	if len(l.refuse) > 0 {
		err := l.refuse[0]
		l.refuse = l.refuse[1:]
		return err
	}
	l.got = append(l.got, samples...)
	return nil
}

func (l *lab) agent(file string) *Agent {
	return New(Config{
		Node: "n4-1", NodeType: "n4", Machine: machine.Machine{CPUModel: "AMD-25-1", CPUs: cpuset.New(0, 1), Online: cpuset.New(0, 1, 2, 3), Quota: 0.5},
		Measure: l, Claim: l.claim, Deliver: l.deliver, Summary: &l.said, MemoryFile: file,
	})
}

// stay runs the agent for a duration.
func (l *lab) stay(t *testing.T, a *Agent, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := a.Stay(ctx, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
}

func in(t *testing.T, test func(t *testing.T, l *lab)) {
	synctest.Test(t, func(t *testing.T) { test(t, &lab{began: time.Now(), single: 100}) })
}

func (l *lab) expect(t *testing.T, kinds ...string) {
	t.Helper()
	var got []string
	for _, run := range l.runs {
		kind, _, _ := strings.Cut(run, "@")
		got = append(got, kind)
	}
	if !slices.Equal(got, kinds) {
		t.Errorf("ran %v, want %v", l.runs, kinds)
	}
}

func TestStay(t *testing.T) {
	const day = 24 * time.Hour
	t.Run("starts with a full run, then spot checks at most daily", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.stay(t, l.agent(""), 60*time.Hour)
			l.expect(t, "full", "spot", "spot")
			if l.runs[0] != "full@0s" || len(l.got) != 3 || l.got[0].Spot || !l.got[1].Spot {
				t.Errorf("ran %v, got %v", l.runs, l.got)
			}
		})
	})
	t.Run("a spot check that differs makes the next run full, which is the new reference", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			a := l.agent("")
			l.stay(t, a, time.Hour)
			l.single = 89
			l.stay(t, a, 4*day+day/2)
			if len(l.runs) < 4 || l.runs[1][:4] != "spot" || l.runs[2][:4] != "full" || l.runs[3][:4] != "spot" {
				t.Errorf("ran %v", l.runs)
			}
		})
	})
	t.Run("repeats a full run after 30 days", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.stay(t, l.agent(""), 65*day)
			full := 0
			for i, run := range l.runs {
				if strings.HasPrefix(run, "full") {
					full++
				} else if i == 0 {
					t.Errorf("began with %s", run)
				}
			}
			if full != 3 {
				t.Errorf("%d full runs of %d in 65 days: %v", full, len(l.runs), l.runs)
			}
		})
	})
	t.Run("measures again if it was measured in the future, while the clock was ahead", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			file := filepath.Join(t.TempDir(), "state.json")
			ahead := memory{Last: time.Now().Add(365 * day), Full: time.Now().Add(365 * day), Version: kernel.Version()}
			if err := ahead.save(file); err != nil {
				t.Fatal(err)
			}
			l.stay(t, l.agent(file), time.Hour)
			l.expect(t, "full")
		})
	})
	t.Run("does not measure again after a restart", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			file := filepath.Join(t.TempDir(), "state.json")
			l.stay(t, l.agent(file), time.Hour)
			l.stay(t, l.agent(file), time.Hour)
			l.expect(t, "full")
			l.stay(t, l.agent(file), day)
			l.expect(t, "full", "spot")
		})
	})
	t.Run("remembers a doubted run across restarts", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			file := filepath.Join(t.TempDir(), "state.json")
			l.stay(t, l.agent(file), time.Hour)
			l.single = 111
			l.stay(t, l.agent(file), day)
			l.stay(t, l.agent(file), day+day/4)
			l.expect(t, "full", "spot", "full")
		})
	})
	t.Run("retries a busy node with growing pauses", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.busy = 3
			l.stay(t, l.agent(""), 3*time.Hour)
			l.expect(t, "full", "full", "full", "full")
			if len(l.got) != 1 {
				t.Errorf("got %v", l.got)
			}
		})
	})
	t.Run("measures nothing while other nodes are enough, and asks again in the next period", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.claims = []error{&deliver.DeclinedError{}, fmt.Errorf("claim: %w", &deliver.DeclinedError{})}
			a := l.agent("")
			l.stay(t, a, 23*time.Hour)
			l.expect(t)
			if len(l.claims) != 1 || !strings.Contains(l.said.String(), "this node is not measured") {
				t.Errorf("%d answers are left; the summary is:\n%s", len(l.claims), l.said.String())
			}
			l.stay(t, a, 3*day)
			l.expect(t, "full", "spot")
		})
	})
	t.Run("measures before pods arrive", func(t *testing.T) {
		for _, tc := range []struct {
			release, budget time.Duration
			spread          bool
		}{
			{28 * time.Second, 20 * time.Second, false},
			{12 * time.Second, 11 * time.Second, false},
			{3 * time.Second, 20 * time.Second, true},
			{0, 20 * time.Second, true},
		} {
			in(t, func(t *testing.T, l *lab) {
				l.release = tc.release
				a := l.agent("")
				l.stay(t, a, time.Hour)
				if len(l.budgets) != 1 || l.budgets[0] != tc.budget || a.spread != tc.spread {
					t.Errorf("%v before pods arrive: budgets %v, want %v; spread %t, want %t", tc.release, l.budgets, tc.budget, a.spread, tc.spread)
				}
			})
		}
	})
	t.Run("measures again before pods arrive if a run fails", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.release, l.lasts, l.busy = 28*time.Second, 15*time.Second, 9
			l.stay(t, l.agent(""), 28*time.Second)
			if want := []time.Duration{20 * time.Second, 11 * time.Second}; !slices.Equal(l.budgets, want) {
				t.Errorf("budgets %v, want %v", l.budgets, want)
			}
		})
		in(t, func(t *testing.T, l *lab) {
			l.release, l.lasts, l.busy = 28*time.Second, 9*time.Second, 1
			l.stay(t, l.agent(""), time.Hour)
			if l.expect(t, "full", "full"); len(l.got) != 1 {
				t.Errorf("got %v", l.got)
			}
		})
	})
	t.Run("tries again while it starts if vCPUs share cores", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.busy = 99
			a := l.agent("")
			a.config.Machine.ThreadsPerCore = 2
			l.stay(t, a, 10*time.Minute)
			if len(l.runs) < 3 {
				t.Errorf("ran %v", l.runs)
			}
		})
	})
	t.Run("asks again soon if the server does not answer", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.claims = []error{errors.New("away")}
			l.stay(t, l.agent(""), time.Hour)
			l.expect(t, "full")
		})
	})
	t.Run("delivers pending samples without another run", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.refuse = []error{errors.New("away"), errors.New("away")}
			l.stay(t, l.agent(""), 12*time.Hour)
			l.expect(t, "full")
			if len(l.got) != 1 {
				t.Errorf("got %v", l.got)
			}
		})
	})
	t.Run("does not send rejected samples again", func(t *testing.T) {
		in(t, func(t *testing.T, l *lab) {
			l.refuse = []error{&deliver.RejectedError{}}
			l.stay(t, l.agent(""), 12*time.Hour)
			l.expect(t, "full")
			if len(l.got) != 0 || !strings.Contains(l.said.String(), "rejected samples") {
				t.Errorf("got %v; the summary is:\n%s", l.got, l.said.String())
			}
		})
	})
}

func TestAgent(t *testing.T) {
	t.Run("once makes valid samples and prints a summary", onceMakesValidSamplesAndPrintsASummary)
	t.Run("IDs depend only on node run and benchmark", idsDependOnlyOnNodeRunAndBenchmark)
}

func onceMakesValidSamplesAndPrintsASummary(t *testing.T) {
	in(t, func(t *testing.T, l *lab) {
		if err := l.agent("").Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(l.got) != 1 {
			t.Fatalf("got %v", l.got)
		}
		s := l.got[0]
		if faults := s.Validate(time.Now()); len(faults) > 0 {
			t.Error(faults)
		}
		if s.Score != 200 || s.SingleThread != 100 || s.Threads != 2 || s.VCPUs != 2 || s.Runs != 5 || s.Benchmark != "bench-node:json" || s.OtherLoad != 0.3 || s.CPUModel != "AMD-25-1" {
			t.Errorf("got %+v", s)
		}
		for _, line := range []string{"2 of 4 vCPUs (0-1)", "CPU quota: 0.5 CPUs; scores are per CPU time", "bench-node:json", "0.4%      5         25%", "other processes used 30% of the vCPUs' time"} {
			if !strings.Contains(l.said.String(), line) {
				t.Errorf("the summary lacks %q:\n%s", line, l.said.String())
			}
		}
	})
}

func idsDependOnlyOnNodeRunAndBenchmark(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 2, 3, 4, time.UTC)
	long := strings.Repeat("n", 253)
	same := id(long, now, "bench-node:memory-bandwidth")
	if same != id(long, now, "bench-node:memory-bandwidth") || len(same) > 128 {
		t.Errorf("id %q", same)
	}
	for _, other := range []string{id("n", now, "bench-node:memory-bandwidth"), id(long, now.Add(1), "bench-node:memory-bandwidth"), id(long, now, "bench-node:json")} {
		if other == same {
			t.Errorf("%q twice", same)
		}
	}
}
