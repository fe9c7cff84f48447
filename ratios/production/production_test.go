package production

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestProduction(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	for _, tc := range []struct {
		name string
		test func(*testing.T, *stored)
	}{
		{"suggests, and changes nothing by default", observes},
		{"applies calmly, and never infers memory", applies},
		{"returns to the other sources when suggestions no longer apply", returns},
		{"holds ratios while evidence is missing", holds},
		{"returns to the other sources if it is switched off, also without evidence", switchedOff},
		{"says nothing of evidence that another leader reads", deposed},
		{"ends a ratio when its type is gone", ends},
		{"keeps the ratio of a type of which nothing is known now, until evidence would have aged", keeps},
		{"ends a ratio that is held back for as long as evidence lives", heldBack},
		{"holds a ratio back if nothing is measured for days, and ends it when the evidence has aged", ages},
		{"dates no evidence later than now", dated},
		{"knows which ratios it would have in the end if it applied, or did not", assumes},
		{"ends ratios if evidence cannot be read for as long as it would live", outlives},
		{"counts from now for how long nothing supports a ratio that was stored before", storedBefore},
		{"starts again after the ConfigMap was emptied, in a later window", emptied},
		{"says that it does not know a small cluster, and what would let it know", small},
		{"estimates once per window, even if the result cannot be stored", once},
		{"changes nothing while another replica leads", follows},
		{"knows the same after a restart", restarts},
		{"stores nothing if it is read-only", readOnly},
		{"judges each window that ends, and tries again what failed", runs},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := &stored{client, namespace.Name, "ratios-" + strings.ToLower(strings.NewReplacer("/", "-", "_", "-", ",", "", " ", "-").Replace(tc.name))}
			s.name = s.name[:min(len(s.name), 60)]
			s.write(t, nil)
			tc.test(t, s)
		})
	}
}

func observes(t *testing.T, s *stored) {
	known := observe(large)
	r := s.run(t, known, nil)
	r.hours(t, 5)
	for number, name := range []string{"t1", "t2"} {
		got := r.suggested(t, name)
		if truth := known.truth(number + 1); len(got.Doubts) > 0 || got.Cluster.Low > truth || truth > got.Cluster.High {
			t.Errorf("%s: suggested %+v, true is %v", name, got, truth)
		}
		if got.Next.High-got.Next.Low <= got.Cluster.High-got.Cluster.Low || got.Workloads < 10 || got.Nodes < 3 || got.Hours < 100 {
			t.Errorf("%s: %+v", name, got)
		}
		e, _ := r.store.Table().Lookup(name)
		if e.Ratio.CPUPerf != 1 || len(e.Candidates) != 1 {
			t.Errorf("%s has %+v", name, e)
		}
		if len(e.Observed) != 1 || e.Observed[0].CPUPerf != measured.Significant(got.Cluster.Ratio) || e.Observed[0].MemoryPerf != e.Ratio.MemoryPerf || e.Observed[0].Provenance.Source != Source {
			t.Errorf("%s shows %+v", name, e.Observed)
		}
	}
	if v := r.judge.View(); v.Applies || v.Baseline != "t0" || v.Confidence != 0.95 || !v.Until.Equal(began) || len(v.Progress) != 0 {
		t.Errorf("the view is %+v", v)
	}
	known.set(evidence.New(), nil)
	r.hours(t, 2)
	if v := r.judge.View(); !v.Since.Equal(began.Add(time.Hour)) || !v.Until.IsZero() {
		t.Errorf("it was watched from %s until %s, want from %s, without evidence", v.Since, v.Until, began.Add(time.Hour))
	}
}

func applies(t *testing.T, s *stored) {
	r := s.run(t, observe(large), nil)
	r.applies = true
	r.hours(t, 1)
	if got := r.entry("t2").CPUPerf; got != 1 {
		t.Errorf("before a second window confirms it, t2 has %v", got)
	}
	if p := r.judge.View().Progress["t2"]; p.Confirmed != 1 || p.Target <= 1 {
		t.Errorf("the progress is %+v", p)
	}
	before := 1.0
	want := measured.Significant(r.suggested(t, "t2").Cluster.Ratio)
	for hour := 0; r.entry("t2").CPUPerf != want; hour++ {
		if hour == 10 {
			t.Fatalf("t2 has %v after %d hours, want %v", before, hour, want)
		}
		r.hours(t, 1)
		now := r.entry("t2").CPUPerf
		if now > before*1.1001 || now < before {
			t.Errorf("t2 went from %v to %v in an hour", before, now)
		}
		before = now
	}
	e := r.entry("t2")
	if e, _ := r.store.Table().Lookup("t2"); len(e.Candidates) != 2 || len(e.Observed) != 0 {
		t.Errorf("t2 is %+v", e)
	}
	if p := e.Provenance; p.Source != Source || !strings.Contains(p.Reason, "workloads on") {
		t.Errorf("the provenance is %+v", p)
	}
	if got := r.entry("t1"); got.Provenance.Source != Source || got.MemoryPerf != 1.5 {
		t.Errorf("t1 has %+v: its memory performance must be as before", got)
	}
}

// applied starts a replica whose ratio of t2 has reached its suggestion.
func (s *stored) applied(t *testing.T, known Evidence) (*replica, float64) {
	t.Helper()
	r := s.run(t, known, nil)
	r.applies = true
	r.hours(t, 8)
	ratio := r.entry("t2").CPUPerf
	if ratio != measured.Significant(r.suggested(t, "t2").Cluster.Ratio) || ratio < 1.2 {
		t.Fatalf("t2 has %v", ratio)
	}
	return r, ratio
}

func returns(t *testing.T, s *stored) {
	r, ratio := s.applied(t, observe(large))
	r.applies = false
	r.hours(t, 2)
	if got := r.entry("t2").CPUPerf; got >= ratio || got < ratio/1.1001 {
		t.Errorf("t2 has %v, and had %v", got, ratio)
	}
	r.hours(t, 5)
	if e := r.entry("t2"); e.CPUPerf != 1 || e.Provenance.Source == Source {
		t.Errorf("t2 has %+v", e)
	}
	if v := r.judge.View(); len(v.Progress) != 0 {
		t.Errorf("the progress is %+v", v.Progress)
	}
}

func holds(t *testing.T, s *stored) {
	known := observe(large)
	r, ratio := s.applied(t, known)
	unreadable := errors.New("part 3 cannot be read")
	known.set(evidence.New(), unreadable)
	for range 6 {
		r.pass()
		if err := r.judge.Judge(t.Context()); !errors.Is(err, unreadable) {
			t.Fatalf("got %v", err)
		}
	}
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Errorf("t2 has %v, had %v", got, ratio)
	}
	if err := r.problem(); !errors.Is(err, unreadable) {
		t.Errorf("the problem of the source is %v", err)
	}
	known.set(observe(large).known, nil)
	r.hours(t, 1)
	if err := r.problem(); err != nil {
		t.Errorf("when it can be read again, the problem is %v", err)
	}
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Errorf("t2 has %v, had %v", got, ratio)
	}
}

func switchedOff(t *testing.T, s *stored) {
	known := observe(large)
	r, ratio := s.applied(t, known)
	known.set(evidence.New(), errors.New("part 3 cannot be read"))
	r.applies = false
	for range 7 {
		r.pass()
		if err := r.judge.Judge(t.Context()); err == nil {
			t.Error("nothing is said of the evidence that is missing")
		}
	}
	if e := r.entry("t2"); e.CPUPerf != 1 || e.Provenance.Source == Source {
		t.Errorf("t2 has %+v, had %v", e, ratio)
	}
	r.suggested(t, "t2") // It is still what was seen last.

	// Without usage, a server with the setting ends them, too.
	known.set(observe(large).known, nil)
	r.applies = true
	r.hours(t, 8)
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Fatalf("t2 has %v", got)
	}
	blind := s.run(t, nil, func(_ *Config, j *JudgeConfig) { j.Evidence = nil })
	blind.applies = true
	blind.clock.SetTime(r.clock.Now())
	blind.eventually(t, "t2", ratio)
	blind.hours(t, 7)
	if e := blind.entry("t2"); e.CPUPerf != 1 || len(blind.judge.View().Suggestions) > 0 || !blind.judge.View().Since.IsZero() || !blind.judge.View().Until.IsZero() {
		t.Errorf("t2 has %+v, and the view is %+v", e, blind.judge.View())
	}
	if why := blind.judge.View().Without; why == nil || why.Code != NoUsage || r.judge.View().Without != nil {
		t.Errorf("without usage: %+v, with usage: %+v", why, r.judge.View().Without)
	}
}

func deposed(t *testing.T, s *stored) {
	leads, known := true, observe(tiny)
	r := s.run(t, known, func(_ *Config, j *JudgeConfig) { j.Leads = func() bool { return leads } })
	known.set(evidence.New(), errors.New("part 3 cannot be read"))
	for range 2 {
		r.pass()
		if err := r.judge.Judge(t.Context()); err == nil {
			t.Fatal("evidence is not missing")
		}
	}
	if r.problem() == nil {
		t.Fatal("the source has no problem")
	}
	leads = false
	r.hours(t, 1)
	if err := r.problem(); err != nil {
		t.Errorf("the problem is %v", err)
	}
}

func ends(t *testing.T, s *stored) {
	known := observe(large)
	r, ratio := s.applied(t, known)
	r.types = []string{"t0", "t1"}
	r.hours(t, 3)
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Errorf("with evidence, but without nodes for now, t2 has %v, had %v", got, ratio)
	}
	known.set(evidence.New(), nil)
	r.hours(t, 7)
	if e := r.entry("t2"); e.CPUPerf != 1 || e.Provenance.Source == Source {
		t.Errorf("t2 has %+v", e)
	}
	if _, still := r.judge.View().Suggestion("t2"); still {
		t.Error("t2 still has a suggestion")
	}
}

func keeps(t *testing.T, s *stored) {
	known := observe(large)
	r, ratio := s.applied(t, known)
	supported := began
	known.set(evidence.New(), nil)
	r.hours(t, 7)
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Errorf("t2 has %v, had %v", got, ratio)
	}
	if got := r.suggested(t, "t2"); got.Known() || len(got.Doubts) != 1 || got.Doubts[0].Code != string(estimate.NotCompared) || !got.Supported.Equal(supported) {
		t.Errorf("the suggestion is %+v", got)
	}
	types := r.types
	r.types = nil
	r.pass()
	if err := r.judge.Judge(t.Context()); err == nil {
		t.Error("a judgment without any node succeeded")
	}
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Errorf("while nodes are not known, t2 has %v, had %v", got, ratio)
	}

	r.types = types
	r.clock.SetTime(supported.Add(life - time.Hour))
	r.hours(t, 2)
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Errorf("after %s, t2 has %v, had %v", r.clock.Since(supported), got, ratio)
	}
	r.returnsCalmly(t, ratio, func() error { return r.judge.Judge(t.Context()) })
}

// returnsCalmly checks that the ratio of t2 returns to that of the other source within hours, without a jump.
func (r *replica) returnsCalmly(t *testing.T, ratio float64, judge func() error) {
	t.Helper()
	for range 9 {
		r.pass()
		_ = judge()
		now := r.entry("t2").CPUPerf
		if now > ratio || now < ratio/1.1001 {
			t.Errorf("t2 went from %v to %v in an hour", ratio, now)
		}
		ratio = now
	}
	if e := r.entry("t2"); e.CPUPerf != 1 || e.Provenance.Source == Source {
		t.Errorf("t2 has %+v", e)
	}
}

func heldBack(t *testing.T, s *stored) {
	r, ratio := s.applied(t, observe(large))
	supported := began
	r.judge.settings.MinNodes = 1000
	r.hours(t, 5)
	if got := r.suggested(t, "t2"); !got.Known() || len(got.Doubts) == 0 || !got.Supported.Equal(supported) || r.entry("t2").CPUPerf != ratio {
		t.Errorf("t2 has %v, had %v, and the suggestion is %+v", r.entry("t2").CPUPerf, ratio, got)
	}
	r.clock.SetTime(supported.Add(life))
	r.returnsCalmly(t, ratio, func() error { return r.judge.Judge(t.Context()) })
}

func ages(t *testing.T, s *stored) {
	r, ratio := s.applied(t, observe(large))
	judge := func() error { return r.judge.Judge(t.Context()) }
	r.clock.SetTime(began.Add(47 * time.Hour))
	r.hours(t, 1)
	if got := r.suggested(t, "t2"); len(got.Doubts) > 0 {
		t.Errorf("after an outage of two days, t2 has %+v", got.Doubts)
	}
	r.hours(t, 1)
	got := r.suggested(t, "t2")
	want := []Doubt{{EvidenceOld, `no workload was compared since 2024-10-18T01:00:00Z: see in "resizectl status" whether usage is collected`}}
	if diff := cmp.Diff(want, got.Doubts); diff != "" || !got.Known() || !got.Supported.Equal(began) || !r.judge.View().Until.Equal(began) {
		t.Errorf("after %s, t2 has %+v: %s", r.clock.Since(began), got, diff)
	}
	r.clock.SetTime(began.Add(life - time.Hour))
	r.hours(t, 2)
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Errorf("after %s, t2 has %v, had %v", r.clock.Since(began), got, ratio)
	}
	r.returnsCalmly(t, ratio, judge)
	r.types = []string{"t0", "t1"}
	r.hours(t, 1)
	if _, still := r.judge.View().Suggestion("t2"); still {
		t.Error("the evidence of a type that is gone has not aged")
	}
}

// A clock that was ahead dates evidence later than now.
func dated(t *testing.T, s *stored) {
	r := s.run(t, observe(large), nil)
	r.clock.SetTime(began.Add(-10 * time.Hour))
	r.hours(t, 1)
	if now := r.clock.Now(); !r.judge.View().Until.Equal(now) || !r.suggested(t, "t2").Supported.Equal(now) {
		t.Errorf("at %s, evidence ends %s and supports until %s", now, r.judge.View().Until, r.suggested(t, "t2").Supported)
	}
}

func assumes(t *testing.T, s *stored) {
	r := s.run(t, observe(large), nil)
	if _, err := (&Judge{config: JudgeConfig{Provider: &Provider{}}}).Assume(true); err == nil {
		t.Error("it assumes what was not read")
	}
	assume := func(applies bool) *ratios.Layer {
		of, err := r.judge.Assume(applies)
		if err != nil || of.Source != Source {
			t.Fatalf("%+v, %v", of, err)
		}
		return of.Layer
	}
	if none := assume(true); len(none.Ratios) > 0 {
		t.Errorf("without suggestions, it assumes %+v", none)
	}
	r.hours(t, 1)
	perfs := func(l *ratios.Layer) map[string]float64 {
		all := map[string]float64{}
		for name, ratio := range l.Ratios {
			all[name] = ratio.CPUPerf
		}
		return all
	}
	shown := r.provider.content.layer()
	if diff := cmp.Diff(shown, assume(false)); diff != "" {
		t.Errorf("if nothing applies, as now: %s", diff)
	}
	assumed := assume(true)
	if after := r.provider.content.layer(); cmp.Diff(shown, after) != "" || len(r.judge.View().Progress) > 0 {
		t.Error("the assumption is in effect")
	}
	r.applies = true
	r.hours(t, 12)
	applied := r.provider.content.layer()
	if diff := cmp.Diff(perfs(applied), perfs(assumed)); diff != "" || len(applied.Ratios) != 2 || assumed.RelativeTo != "t0" {
		t.Errorf("assumed %+v: %s", assumed, diff)
	}
	if why := assumed.Ratios["t2"].Provenance; why.Source != Source || why.Reason != applied.Ratios["t2"].Provenance.Reason {
		t.Errorf("the provenance is %+v", why)
	}
	if none := assume(false); len(none.Ratios) > 0 || len(none.Observed) != 2 {
		t.Errorf("if nothing applies, %+v", none)
	}
}

func outlives(t *testing.T, s *stored) {
	known := observe(large)
	r, ratio := s.applied(t, known)
	made := r.clock.Now()
	known.set(evidence.New(), errors.New("part 3 cannot be read"))
	judge := func() error { return r.judge.Judge(t.Context()) }
	r.clock.SetTime(made.Add(life))
	if err := judge(); err == nil || r.entry("t2").CPUPerf != ratio {
		t.Errorf("%v, and t2 has %v, had %v", err, r.entry("t2").CPUPerf, ratio)
	}
	r.pass()
	if err := judge(); err == nil {
		t.Error("nothing is said of the evidence that is missing")
	}
	if p := r.judge.View().Progress["t2"]; p.Confirmed != 1 || p.Target != 1 {
		t.Errorf("the progress is %+v", p)
	}
	r.returnsCalmly(t, ratio, judge)
}

// storedBefore starts with what a server stored that did not know when ratios were last supported.
func storedBefore(t *testing.T, s *stored) {
	s.write(t, map[string]string{measured.Key: strings.ReplaceAll(`{"time": "BEFORE", "baseline": "t0", "suggestions": [{"nodeType": "t1", "doubts": [{"code": "NotCompared", "detail": "no"}]}],
		"nodeTypes": {"t1": {"baseline": "t0", "ratio": 1.3, "judged": "BEFORE"}}}`, "BEFORE", began.Add(-time.Hour).Format(time.RFC3339))})
	known := observe(large)
	known.set(evidence.New(), nil)
	r := s.run(t, known, nil)
	r.applies = true
	r.eventually(t, "t1", 1.3)
	r.hours(t, 5)
	if got, e := r.suggested(t, "t1"), r.entry("t1"); !got.Supported.Equal(began.Add(time.Hour)) || e.CPUPerf != 1.3 {
		t.Errorf("t1 has %+v and %+v", got, e)
	}
}

func emptied(t *testing.T, s *stored) {
	r, ratio := s.applied(t, observe(large))
	s.write(t, nil)
	r.eventually(t, "t2", 1)
	// The window that was judged already does not count again.
	if err := r.judge.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.hours(t, 1)
	if got := r.entry("t2").CPUPerf; got != 1 {
		t.Errorf("before it is confirmed again, t2 has %v", got)
	}
	r.hours(t, 7)
	if got := r.entry("t2").CPUPerf; got != ratio {
		t.Errorf("t2 has %v, had %v", got, ratio)
	}
}

func small(t *testing.T, s *stored) {
	r := s.run(t, observe(tiny), nil)
	r.applies = true
	r.types = append(r.types, "new")
	r.hours(t, 6)
	for _, name := range []string{"t1", "t2", "new"} {
		got := r.suggested(t, name)
		if len(got.Doubts) == 0 {
			t.Errorf("%s has no doubt: %+v", name, got)
		}
		for _, d := range got.Doubts {
			if d.Code == "" || d.Detail == "" {
				t.Errorf("%s: a doubt says nothing: %+v", name, d)
			}
		}
		if got := r.entry(name).CPUPerf; got != byHand().Ratios[name].CPUPerf {
			t.Errorf("%s has %v", name, got)
		}
	}
	got := r.suggested(t, "new")
	want := []Doubt{{"NotCompared", "no workload has had two replicas on new and two on t0, in the same zone and hour: let a workload with four replicas or more run on both, for about 3 days"}}
	if diff := cmp.Diff(want, got.Doubts); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(r.suggested(t, "t2").Doubts, func(d Doubt) bool {
		return strings.Contains(d.Detail, "needed") || strings.Contains(d.Detail, "which take about 3 days")
	}) {
		t.Errorf("nothing says what would let it know: %+v", r.suggested(t, "t2").Doubts)
	}
}

func once(t *testing.T, s *stored) {
	known := observe(tiny)
	r := s.run(t, known, nil)
	r.hours(t, 1)
	for range 3 {
		if err := r.judge.Judge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if known.copies != 1 {
		t.Errorf("evidence was copied %d times in a window", known.copies)
	}
	s.write(t, map[string]string{measured.Key: "["})
	localcluster.Eventually(t, "the invalid content to be seen", r.seesProblem)
	r.pass()
	for range 3 {
		if err := r.judge.Judge(t.Context()); err == nil {
			t.Error("a judgment that cannot be stored succeeded")
		}
	}
	if known.copies != 2 {
		t.Errorf("evidence was copied %d times in two windows", known.copies)
	}
}

func (r *replica) seesProblem() error {
	if r.problem() == nil {
		return errors.New("the source has no problem")
	}
	return nil
}

func follows(t *testing.T, s *stored) {
	leads := false
	known := observe(tiny)
	r := s.run(t, known, func(_ *Config, j *JudgeConfig) { j.Leads = func() bool { return leads } })
	r.hours(t, 1)
	if known.copies != 0 || len(r.judge.View().Suggestions) > 0 {
		t.Errorf("evidence was copied %d times, and the view is %+v", known.copies, r.judge.View())
	}
	leads = true
	r.hours(t, 1)
	if known.copies != 1 || len(r.judge.View().Suggestions) != 2 {
		t.Errorf("evidence was copied %d times, and the view is %+v", known.copies, r.judge.View())
	}
}

func restarts(t *testing.T, s *stored) {
	r, ratio := s.applied(t, observe(large))
	again := s.run(t, observe(tiny), nil)
	again.applies = true
	again.clock.SetTime(r.clock.Now())
	again.eventually(t, "t2", ratio)
	if diff := cmp.Diff(r.judge.View(), again.judge.View()); diff != "" {
		t.Error(diff)
	}
	if err := again.judge.Judge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.judge.View(), again.judge.View()); diff != "" {
		t.Errorf("it judged the same window again: %s", diff)
	}
}

func readOnly(t *testing.T, s *stored) {
	r := s.run(t, observe(large), func(c *Config, _ *JudgeConfig) { c.ReadOnly = true })
	r.applies = true
	r.hours(t, 8)
	if got := r.entry("t2").CPUPerf; got < 1.2 {
		t.Errorf("t2 has %v in memory", got)
	}
	other := s.run(t, nil, nil)
	if got := other.judge.View(); len(got.Suggestions) > 0 {
		t.Errorf("stored is %+v", got)
	}
	if err := other.judge.Judge(t.Context()); err != nil {
		t.Errorf("without evidence: %v", err)
	}
	if got := fmt.Sprint(r.provider.Missing(), r.problem()); got != "<nil> <nil>" {
		t.Error(got)
	}
}

func runs(t *testing.T, s *stored) {
	known := observe(tiny)
	known.set(known.known, errors.New("not read yet"))
	var leads atomic.Bool
	r := s.run(t, known, func(_ *Config, j *JudgeConfig) { j.Leads = leads.Load })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.judge.Run(ctx) }()
	waits := func() {
		t.Helper()
		localcluster.Eventually(t, "a pause", func() error {
			if !r.clock.HasWaiters() {
				return errors.New("nothing waits for the clock")
			}
			return nil
		})
	}
	made := func(want time.Time) {
		t.Helper()
		localcluster.Eventually(t, "suggestions", func() error {
			if got, _ := r.provider.current(); !got.Time.Equal(want) {
				return fmt.Errorf("they are of %v, want %v", got.Time, want)
			}
			return nil
		})
	}
	waits()
	leads.Store(true)
	r.clock.Step(measured.RetryPeriod)
	waits()
	if err := r.problem(); err != nil {
		t.Errorf("before a second attempt, the problem is %v", err)
	}
	known.set(known.known, nil)
	r.clock.Step(measured.RetryPeriod)
	made(began.Add(2 * measured.RetryPeriod))
	waits()
	r.pass()
	made(began.Add(time.Hour))
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
