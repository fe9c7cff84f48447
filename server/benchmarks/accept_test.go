package benchmarks

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"k8s.io/client-go/kubernetes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/production"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	overrideservice "github.com/workload-resizer/workload-resizer/server/overrides"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// nothing returns an impact without any change.
type nothing struct{}

func (nothing) Impact(context.Context, *ratios.Table) (*query.Impact, error) {
	return &query.Impact{}, nil
}

func TestAccept(t *testing.T) {
	t.Run("a suggestion is accepted with UpdateOverride", aSuggestionIsAcceptedWithUpdateOverride)
	t.Run("what production shows is accepted with UpdateOverride", whatProductionShowsIsAcceptedWithUpdateOverride)
}

// accepting is a server with overrides, and the suggestions of a service.
type accepting struct {
	suggestions *Service
	overrides   *overrideservice.Service
	ratios      *ratioservice.Service
	ctx         context.Context
}

func startAccepting(t *testing.T, c Config) *accepting {
	t.Helper()
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	servertest.ConfigMapIn(t, client, namespace.Name, "overrides")
	overrides := override.New(client, namespace.Name, "overrides")
	store := ratios.NewStore(overrides, ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
	servertest.Run(t, store.Run)
	localcluster.Eventually(t, "the ratios", func() error { _, err := store.Ready(); return err })
	r := ratioservice.New(ratioservice.Config{Store: store, Overrides: overrides, Impacts: nothing{}, Viewer: servertest.All})
	c.Ratios, c.Store = r, store
	return &accepting{
		suggestions: New(c), ratios: r,
		overrides: overrideservice.New(overrideservice.Config{Store: store, Overrides: overrides, Ratios: r}),
		ctx:       access.NewContext(t.Context(), access.Caller{Local: true}),
	}
}

func (a *accepting) suggestion(t *testing.T, nodeType string) *workloadresizerv1.Suggestion {
	t.Helper()
	got, err := a.suggestions.GetSuggestion(a.ctx, &workloadresizerv1.GetSuggestionRequest{NodeType: nodeType})
	if err != nil {
		t.Fatal(err)
	}
	return got.GetSuggestion()
}

// accept overrides a ratio with a suggestion, and returns the request.
func (a *accepting) accept(t *testing.T, m *workloadresizerv1.Suggestion, cpuPerf float64) *workloadresizerv1.UpdateOverrideRequest {
	t.Helper()
	request := &workloadresizerv1.UpdateOverrideRequest{
		Override:     &workloadresizerv1.Override{NodeType: m.GetNodeType(), CpuPerf: &cpuPerf, MemoryPerf: m.MemoryPerf},
		AllowMissing: true, AllowNewNodeType: true, RatioEtag: m.GetRatioEtag(),
	}
	if _, err := a.overrides.UpdateOverride(a.ctx, request); err != nil {
		t.Fatal(err)
	}
	set, err := a.ratios.GetRatio(a.ctx, &workloadresizerv1.GetRatioRequest{NodeType: m.GetNodeType()})
	if err != nil {
		t.Fatal(err)
	}
	if got := set.GetRatio(); got.GetCpuPerf() != cpuPerf || got.GetMemoryPerf() != m.GetMemoryPerf() {
		t.Errorf("%s: suggested %v, in effect %v", m.GetNodeType(), m, got)
	}
	return request
}

// Covers suggestions for an existing node type, a new node type and one CPU model.
func aSuggestionIsAcceptedWithUpdateOverride(t *testing.T) {
	a := startAccepting(t, Config{Benchmarks: &servertest.Measured{Known: published()}})
	for _, nodeType := range []string{"n4", "t2d", "n4@Intel-6-207"} {
		m := a.suggestion(t, nodeType)
		if m.GetRatioEtag() == "" {
			t.Errorf("%s has no ratio_etag", nodeType)
		}
		request := a.accept(t, m, m.GetCpuPerf())
		request.Override.CpuPerf = new(m.GetCpuPerf() + 1)
		_, err := a.overrides.UpdateOverride(a.ctx, request)
		servertest.CheckError(t, err, codes.Aborted, "ETAG_MISMATCH", fmt.Sprintf("node type %q has changed", nodeType))
		if again := a.suggestion(t, nodeType); again.GetRatioEtag() == m.GetRatioEtag() || again.GetCurrent().GetCpuPerf() != m.GetCpuPerf() {
			t.Errorf("%s: the next suggestion is %v", nodeType, again)
		}
	}
}

// Covers an existing node type, and one that only production knows.
func whatProductionShowsIsAcceptedWithUpdateOverride(t *testing.T) {
	of := inProduction()
	of.view.Suggestions[0] = production.Suggestion{NodeType: "c4", Cluster: production.Interval{Ratio: 1.2, Low: 1.1, High: 1.3}, Next: production.Interval{Ratio: 1.2, Low: 1, High: 1.4}}
	a := startAccepting(t, Config{Benchmarks: &servertest.Measured{Known: published()}, Production: of})
	for _, nodeType := range []string{"n4", "c4"} {
		m := a.suggestion(t, nodeType)
		a.accept(t, m, m.GetProduction().GetCpuPerf())
		again := a.suggestion(t, nodeType)
		for _, c := range again.GetProduction().GetContradictions() {
			if c.GetSource() == again.GetCurrent().GetProvenance().GetSource() {
				t.Errorf("%s: production contradicts what was accepted from it: %v", nodeType, again)
			}
		}
	}
}
