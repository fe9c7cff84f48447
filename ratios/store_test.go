package ratios_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func layer(source, baseline string, cpu map[string]float64) *ratios.Layer {
	l := &ratios.Layer{Baseline: baseline, Ratios: map[string]ratios.Ratio{}}
	for nodeType, perf := range cpu {
		l.Ratios[nodeType] = ratios.Ratio{CPUPerf: perf, MemoryPerf: 1, Provenance: ratios.Provenance{Source: source}}
	}
	return l
}

// run runs a store of the providers until the test ends.
func run(t *testing.T, providers ...ratios.Provider) *ratios.Store {
	t.Helper()
	s := ratios.NewStore(providers...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("store ended with %v", err)
		}
	})
	return s
}

// await waits until the condition holds.
func await(t *testing.T, s *ratios.Store, changes <-chan struct{}, wanted func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for !wanted() {
		select {
		case <-changes:
		case <-deadline:
			t.Fatalf("timed out: %+v", s.Sources())
		}
	}
}

func ready(s *ratios.Store) func() bool { return func() bool { return s.Table() != nil } }

func TestStore(t *testing.T) {
	t.Run("the first layer that names a type takes precedence and the others stay candidates", theFirstLayerThatNamesATypeTakesPrecedenceAndTheOthersStayCandidates)
	t.Run("has no table until every provider has reported", hasNoTableUntilEveryProviderHasReported)
	t.Run("has no table until every source has been good once", hasNoTableUntilEverySourceHasBeenGoodOnce)
	t.Run("keeps the last good table when a source is bad and reports the error", keepsTheLastGoodTableWhenASourceIsBadAndReportsTheError)
	t.Run("is ready with a table or returns why not", isReadyWithATableOrReturnsWhyNot)
	t.Run("logs the state of sources", logsTheStateOfSources)
	t.Run("reports merged layers without a baseline as a problem", reportsMergedLayersWithoutABaselineAsAProblem)
	t.Run("the revision follows everything that sizes depend on", theRevisionFollowsEverythingThatSizesDependOn)
	t.Run("ends when a provider fails", endsWhenAProviderFails)
}

func theFirstLayerThatNamesATypeTakesPrecedenceAndTheOthersStayCandidates(t *testing.T) {
	over := layer("override", "", map[string]float64{"n4": 1.1})
	base := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25, "c3": 1.3})
	bounds := policy.Bounds{CPU: sizing.Range{Min: 50}}
	base.Settings = keys.Some(policy.Settings{Bounds: bounds})
	s := ratios.NewStore(ratiotest.NewMemory("override", ratios.Update{Layer: over}), ratiotest.NewMemory("configmap", ratios.Update{Layer: base}))
	changes := s.Watch()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = s.Run(ctx) }()
	await(t, s, changes, ready(s))

	table := s.Table()
	if table.Baseline != "n2d" || table.Bounds != bounds || !slices.Equal(table.NodeTypes(), []string{"c3", "n2d", "n4"}) {
		t.Errorf("table %+v of %v", table, table.NodeTypes())
	}
	n4, ok := table.Lookup("n4")
	if !ok {
		t.Fatal("no entry for n4")
	}
	want := &ratios.Entry{
		NodeType:   "n4",
		Ratio:      over.Ratios["n4"],
		Candidates: []ratios.Ratio{over.Ratios["n4"], base.Ratios["n4"]},
		CPUFactor:  sizing.Factor{Num: 10, Den: 11}, MemoryFactor: sizing.Factor{Num: 1, Den: 1},
	}
	if diff := cmp.Diff(want, n4); diff != "" {
		t.Error(diff)
	}
	if table.Knows("e2") {
		t.Error("the table knows a node type that no layer names")
	}
}

func hasNoTableUntilEveryProviderHasReported(t *testing.T) {
	base := ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1})})
	s := ratios.NewStore(silent{}, base)
	changes := s.Watch()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = s.Run(ctx) }()
	await(t, s, changes, func() bool { return s.Sources()[1].Err == nil })
	if s.Table() != nil {
		t.Error("there is a table without the layer of highest precedence")
	}
	if err := s.Problem(); err == nil || !strings.Contains(err.Error(), "ratio source silent: not read yet") {
		t.Errorf("problem %v", err)
	}
}

func hasNoTableUntilEverySourceHasBeenGoodOnce(t *testing.T) {
	over := ratiotest.NewMemory("override", ratios.Update{Err: errors.New("cannot be read")})
	base := ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 2})})
	s := run(t, over, base)
	changes := s.Watch()
	await(t, s, changes, func() bool {
		return s.Sources()[1].Err == nil && s.Problem().Error() == "ratio source override: cannot be read"
	})
	if s.Table() != nil {
		t.Error("there is a table without the layer of highest precedence")
	}
	over.Set(ratios.Update{Layer: layer("override", "", map[string]float64{"n4": 3})})
	await(t, s, changes, ready(s))
	if e, _ := s.Table().Lookup("n4"); e.Ratio.CPUPerf != 3 {
		t.Errorf("n4 has %v", e.Ratio)
	}
}

// silent never reports.
type silent struct{}

func (silent) Name() string { return "silent" }

func (silent) Run(ctx context.Context, _ func(ratios.Update)) error {
	<-ctx.Done()
	return nil
}

func keepsTheLastGoodTableWhenASourceIsBadAndReportsTheError(t *testing.T) {
	m := ratiotest.NewMemory("configmap", ratios.Update{Err: errors.New("does not exist")})
	s := run(t, m)
	changes := s.Watch()
	await(t, s, changes, func() bool { return strings.Contains(s.Problem().Error(), "does not exist") })
	if s.Table() != nil {
		t.Fatal("there is a table without a layer")
	}

	good := layer("configmap", "n2d", map[string]float64{"n2d": 1})
	m.Set(ratios.Update{Layer: good})
	await(t, s, changes, ready(s))
	if err := s.Problem(); err != nil {
		t.Errorf("problem %v with a good source", err)
	}
	table := s.Table()

	m.Set(ratios.Update{Err: errors.New("min 2 > max 1")})
	await(t, s, changes, func() bool { return s.Problem() != nil })
	if got := s.Table(); got.Revision != table.Revision {
		t.Errorf("the table changed to %+v", got)
	}
	status := s.Sources()[0]
	if status.Name != "configmap" || status.Err == nil || status.LastGood.IsZero() {
		t.Errorf("status %+v", status)
	}

	m.Set(ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 2})})
	await(t, s, changes, func() bool { return s.Problem() == nil })
	if !s.Table().Knows("n4") {
		t.Error("the new content is not in the table")
	}
}

func isReadyWithATableOrReturnsWhyNot(t *testing.T) {
	s := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1})}))
	if table, err := s.Ready(); table != nil || err == nil || err.Error() != "ratio source configmap: not read yet" {
		t.Errorf("before Run: %v, %v", table, err)
	}
	changes := s.Watch()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = s.Run(ctx) }()
	await(t, s, changes, ready(s))
	if table, err := s.Ready(); table != s.Table() || err != nil {
		t.Errorf("with a table: %v, %v", table, err)
	}
}

func logsTheStateOfSources(t *testing.T) {
	logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true)))
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	defer cancel()
	bad := ratios.Update{Err: errors.New("cannot be read")}
	ruled := func(source string) ratios.Update {
		l := layer(source, "n2d", map[string]float64{"n2d": 1})
		l.Rules = []ratios.Rule{{Match: policy.Criteria{ComputeClass: "a"}}, {Match: policy.Criteria{ComputeClass: "b"}}}
		return ratios.Update{Layer: l}
	}
	m := ratiotest.NewMemory("configmap", bad)
	s := ratios.NewStore(m)
	changes := s.Watch()
	go func() { _ = s.Run(ctx) }()
	isBad := func() bool { return s.Problem() != nil && strings.Contains(s.Problem().Error(), "cannot be read") }

	before := 0
	for _, step := range []struct {
		name string
		set  func()
		is   func() bool
		want []string // Empty if nothing is logged.
	}{
		{"the source has never been good", func() {}, isBad, []string{"waiting for it", "cannot be read"}},
		{"the source is good", func() { m.Set(ruled("configmap")) }, ready(s), []string{"New ratios", `nodeTypes=["n2d"]`, "rules=2"}},
		{"only the provenance changed", func() { m.Set(ruled("elsewhere")) }, func() bool {
			n2d, _ := s.Table().Lookup("n2d")
			return n2d.Ratio.Provenance.Source == "elsewhere"
		}, nil},
		{"the source was good before", func() { m.Set(bad) }, isBad, []string{"its last good state stays in effect", "cannot be read"}},
	} {
		step.set()
		await(t, s, changes, step.is)
		log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		said := log[before:]
		before = len(log)
		if len(step.want) == 0 && said != "" {
			t.Errorf("%s: logged %q", step.name, said)
		}
		for _, want := range step.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: logged %q, want %q in it", step.name, said, want)
			}
		}
	}
}

func reportsMergedLayersWithoutABaselineAsAProblem(t *testing.T) {
	for _, tc := range []struct {
		name     string
		baseline string
		want     string
	}{
		{"no baseline is named", "", "no source names a baseline node type"},
		{"the baseline has no ratio", "e2", `the baseline node type "e2" has no ratio`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := ratios.NewStore(ratiotest.NewMemory("memory", ratios.Update{Layer: layer("memory", tc.baseline, map[string]float64{"n4": 1})}))
			changes := s.Watch()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() { _ = s.Run(ctx) }()
			await(t, s, changes, func() bool { return strings.Contains(s.Problem().Error(), tc.want) })
		})
	}
}

func theRevisionFollowsEverythingThatSizesDependOn(t *testing.T) {
	m := ratiotest.NewMemory("memory", ratios.Update{Layer: layer("memory", "n2d", map[string]float64{"n2d": 1, "n4": 1.25})})
	s := run(t, m)
	changes := s.Watch()
	await(t, s, changes, ready(s))
	first := s.Table()

	renamed := layer("elsewhere", "n2d", map[string]float64{"n2d": 1, "n4": 1.25})
	m.Set(ratios.Update{Layer: renamed})
	await(t, s, changes, func() bool { n4, _ := s.Table().Lookup("n4"); return n4.Ratio.Provenance.Source == "elsewhere" })
	if s.Table().Revision != first.Revision {
		t.Error("the revision changed with the provenance")
	}
	bounded := layer("memory", "n2d", map[string]float64{"n2d": 1, "n4": 1.25})
	bounded.Settings = keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 1}}})
	seen := map[string]bool{first.Revision: true}
	for _, next := range []*ratios.Layer{
		bounded,
		layer("memory", "n4", map[string]float64{"n2d": 1, "n4": 1.25}),
		layer("memory", "n2d", map[string]float64{"n2d": 1, "n4": 1.3}),
	} {
		before := s.Table().Revision
		m.Set(ratios.Update{Layer: next})
		await(t, s, changes, func() bool { return s.Table().Revision != before })
		if seen[s.Table().Revision] {
			t.Errorf("%+v has the revision of different content", next)
		}
		seen[s.Table().Revision] = true
	}
}

func endsWhenAProviderFails(t *testing.T) {
	s := ratios.NewStore(failing{}, silent{})
	if err := s.Run(context.Background()); err == nil || err.Error() != "ratio source failing: no way" {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Name() string                                   { return "failing" }
func (failing) Run(context.Context, func(ratios.Update)) error { return errors.New("no way") }
