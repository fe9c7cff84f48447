package usage

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

// node is containers by their ID. A container uses CPU all the time from when it was created.
type node struct {
	created map[string]time.Time
	// broken are containers that cannot be read.
	broken map[string]error
	// err is why containers cannot be listed, until a time.
	err   error
	until time.Time
}

func (n *node) Containers() (all []cgroup.Container, err error) {
	for id := range n.created {
		all = append(all, cgroup.Container{PodUID: "pod", ID: id, Dir: "/" + id})
	}
	if time.Now().Before(n.until) {
		return nil, n.err
	}
	return all, nil
}

func (n *node) Read(c cgroup.Container) (cgroup.Reading, error) {
	r := memory(100, 0, 100, 100)
	r.CPU = known(time.Since(n.created[c.ID]).Microseconds())
	return r, n.broken[c.ID]
}

// start creates a container, now.
func (n *node) start(id string) {
	if n.created == nil {
		n.created, n.broken = map[string]time.Time{}, map[string]error{}
	}
	n.created[id] = time.Now()
}

// sampled takes samples, 5 seconds apart.
func sampled(t *testing.T, s *Sampler, samples int) {
	t.Helper()
	for range samples {
		time.Sleep(5 * time.Second)
		if err := s.Sample(); err != nil {
			t.Error(err)
		}
	}
}

// usages returns the usages by container.
func usages(s *Sampler) map[string]Usage {
	found := map[string]Usage{}
	for _, u := range s.Fold() {
		found[u.ContainerID] = u
	}
	return found
}

func TestSampler(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"measures containers from when it first saw them":                     measuresFromWhenItFirstSaw,
		"measures containers that start later from their creation":            measuresFromCreation,
		"reports containers that have ended until they were last seen":        reportsContainersThatHaveEnded,
		"begins again after a long pause":                                     beginsAgainAfterALongPause,
		"continues after an error, with all that happened meanwhile":          continuesAfterAnError,
		"measures the other containers if one cannot be read":                 measuresTheOthers,
		"leaves out containers that have ended before they were read":         leavesOutEndedContainers,
		"reports once a minute, in minutes that begin at a time of their own": reportsOnceAMinute,
		"logs a problem once, and its end":                                    logsAProblemOnce,
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

func checkUsage(t *testing.T, u Usage, cores float64, took time.Duration) {
	t.Helper()
	if u.CPU == nil || *u.CPU < cores-0.001 || *u.CPU > cores+0.001 || u.Duration != took || inMiB(u.Memory) != 100 {
		t.Errorf("got %+v, want %v cores in %v", u, cores, took)
	}
}

func measuresFromWhenItFirstSaw(t *testing.T) {
	n := &node{}
	n.start("a")
	time.Sleep(time.Hour)
	s := NewSampler(n)
	sampled(t, s, 13)
	checkUsage(t, usages(s)["a"], 1, time.Minute)
	sampled(t, s, 12)
	checkUsage(t, usages(s)["a"], 1, time.Minute)
	if s.Len() != 1 || len(s.Fold()) != 0 {
		t.Error("there is more than one container")
	}
}

// It used CPU in the last 2 seconds before it was seen, and in 55 seconds after that.
func measuresFromCreation(t *testing.T) {
	n := &node{}
	s := NewSampler(n)
	sampled(t, s, 1)
	time.Sleep(3 * time.Second)
	n.start("a")
	time.Sleep(2 * time.Second)
	if err := s.Sample(); err != nil {
		t.Fatal(err)
	}
	sampled(t, s, 11)
	checkUsage(t, usages(s)["a"], 57.0/60, time.Minute)
}

func reportsContainersThatHaveEnded(t *testing.T) {
	n := &node{}
	n.start("a")
	n.start("b")
	s := NewSampler(n)
	sampled(t, s, 4)
	ended := time.Now()
	delete(n.created, "a")
	sampled(t, s, 9)
	got := usages(s)
	checkUsage(t, got["a"], 1, 15*time.Second)
	checkUsage(t, got["b"], 1, time.Minute)
	if !got["a"].End.Equal(ended) {
		t.Errorf("ended at %v, want %v", got["a"].End, ended)
	}
	sampled(t, s, 1)
	if got := usages(s); len(got) != 1 || s.Len() != 1 {
		t.Errorf("got %v", got)
	}
}

func beginsAgainAfterALongPause(t *testing.T) {
	n := &node{}
	n.start("a")
	s := NewSampler(n)
	sampled(t, s, 2)
	time.Sleep(time.Hour)
	sampled(t, s, 3)
	checkUsage(t, usages(s)["a"], 1, 10*time.Second)
}

func continuesAfterAnError(t *testing.T) {
	n := &node{}
	n.start("a")
	s := NewSampler(n)
	sampled(t, s, 1)
	n.err, n.until = errors.New("busy"), time.Now().Add(31*time.Second)
	time.Sleep(30 * time.Second)
	if err := s.Sample(); !errors.Is(err, n.err) {
		t.Errorf("got %v", err)
	}
	sampled(t, s, 6)
	checkUsage(t, usages(s)["a"], 1, time.Minute)
}

func measuresTheOthers(t *testing.T) {
	n := &node{}
	n.start("a")
	n.start("b")
	s := NewSampler(n)
	sampled(t, s, 1)
	n.broken["b"] = errors.New("permission denied")
	time.Sleep(time.Minute)
	if err := s.Sample(); err == nil || err.Error() != "read 1 of 2 containers: permission denied" {
		t.Errorf("got %v", err)
	}
	got := usages(s)
	checkUsage(t, got["a"], 1, time.Minute)
	if _, reported := got["b"]; reported {
		t.Errorf("got %v", got)
	}
	n.broken["b"] = nil
	sampled(t, s, 1)
	checkUsage(t, usages(s)["b"], 1, 65*time.Second)
}

func leavesOutEndedContainers(t *testing.T) {
	n := &node{}
	n.start("a")
	n.broken["a"] = cgroup.ErrGone
	s := NewSampler(n)
	sampled(t, s, 3)
	if got := s.Fold(); len(got) != 0 || s.Len() != 0 {
		t.Errorf("got %v", got)
	}
}

func reportsOnceAMinute(t *testing.T) {
	n := &node{}
	n.start("a")
	var reports []time.Time
	began := time.Now()
	r := &Reporter{Sampler: NewSampler(n), Interval: 5 * time.Second, Log: slog.New(slog.DiscardHandler), Report: func(u []Usage) {
		if len(u) != 1 {
			t.Errorf("got %v", u)
		}
		reports = append(reports, time.Now())
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute+time.Second)
	defer cancel()
	r.Run(ctx)
	if last := reports[len(reports)-1]; last.Sub(began) != 10*time.Minute+time.Second {
		t.Errorf("the last report came after %v", last.Sub(began))
	}
	reports = reports[:len(reports)-1]
	if first := reports[0].Sub(began); first < firstPeriod || first > firstPeriod+period+r.Interval {
		t.Errorf("the first report came after %v", first)
	}
	if len(reports) < 9 {
		t.Errorf("%d reports", len(reports))
	}
	for before, after := range pairs(reports) {
		if after.Sub(before) != time.Minute {
			t.Errorf("reports at %v and %v", before, after)
		}
	}
}

// pairs yields each time with the next one.
func pairs(times []time.Time) func(func(before, after time.Time) bool) {
	return func(yield func(before, after time.Time) bool) {
		for i := range times[1:] {
			if !yield(times[i], times[i+1]) {
				return
			}
		}
	}
}

func logsAProblemOnce(t *testing.T) {
	n := &node{err: errors.New("busy"), until: time.Now().Add(10 * time.Second)}
	var log strings.Builder
	r := &Reporter{Sampler: NewSampler(n), Interval: time.Second, Log: slog.New(slog.NewTextHandler(&log, nil)), Report: func([]Usage) {}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r.Run(ctx)
	var messages []string
	for line := range strings.Lines(log.String()) {
		_, message, _ := strings.Cut(strings.TrimSpace(line), " ")
		messages = append(messages, message)
	}
	if want := []string{`level=WARN msg="Not all containers were measured" err=busy`, `level=INFO msg="All containers are measured again"`}; !slices.Equal(messages, want) {
		t.Errorf("got %q", messages)
	}
}

func TestChargedOfFiles(t *testing.T) {
	uid, id := "0b7a2e7c-6a3c-4d1b-9f0e-5b8f6a1c2d3e", strings.Repeat("1", 64)
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  int64 // In MiB; -1 means unknown.
	}{
		{"the page cache is charged", map[string]string{"memory.current": "209715200\n", "memory.stat": "inactive_file 157286400\n"}, 200},
		{"nothing is known without the file", map[string]string{"memory.stat": "inactive_file 157286400\n"}, -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "kubepods", "pod"+uid, id)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			tc.files["cpu.stat"], tc.files["../../../cgroup.controllers"] = "usage_usec 5000000\n", "cpu memory\n"
			for name, content := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			tree, err := cgroup.Open(root)
			if err != nil {
				t.Fatal(err)
			}
			s := NewSampler(tree)
			for range 2 {
				if err := s.Sample(); err != nil {
					t.Fatal(err)
				}
			}
			if u, found := usages(s)[id]; !found || inMiB(u.Charged) != tc.want {
				t.Errorf("got %d MiB, want %d", inMiB(u.Charged), tc.want)
			}
		})
	}
}
