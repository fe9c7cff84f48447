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
}

// Covers suggestions for an existing node type, a new node type and one CPU model.
func aSuggestionIsAcceptedWithUpdateOverride(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	servertest.ConfigMapIn(t, client, namespace.Name, "overrides")
	overrides := override.New(client, namespace.Name, "overrides")
	store := ratios.NewStore(overrides, ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
	servertest.Run(t, store.Run)
	localcluster.Eventually(t, "the ratios", func() error { _, err := store.Ready(); return err })
	r := ratioservice.New(ratioservice.Config{Store: store, Overrides: overrides, Impacts: nothing{}, Viewer: servertest.All})
	o := overrideservice.New(overrideservice.Config{Store: store, Overrides: overrides, Ratios: r})
	s := New(Config{Benchmarks: &servertest.Measured{Known: published()}, Ratios: r, Store: store})
	ctx := access.NewContext(t.Context(), access.Caller{Local: true})
	suggestion := func(nodeType string) *workloadresizerv1.Suggestion {
		t.Helper()
		got, err := s.GetSuggestion(ctx, &workloadresizerv1.GetSuggestionRequest{NodeType: nodeType})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetSuggestion()
	}
	for _, nodeType := range []string{"n4", "t2d", "n4@Intel-6-207"} {
		m := suggestion(nodeType)
		if m.GetRatioEtag() == "" {
			t.Errorf("%s has no ratio_etag", nodeType)
		}
		request := &workloadresizerv1.UpdateOverrideRequest{
			Override:     &workloadresizerv1.Override{NodeType: nodeType, CpuPerf: m.CpuPerf, MemoryPerf: m.MemoryPerf},
			AllowMissing: true, AllowNewNodeType: true, RatioEtag: m.GetRatioEtag(),
		}
		if _, err := o.UpdateOverride(ctx, request); err != nil {
			t.Fatal(err)
		}
		set, err := r.GetRatio(ctx, &workloadresizerv1.GetRatioRequest{NodeType: nodeType})
		if err != nil {
			t.Fatal(err)
		}
		if got := set.GetRatio(); got.GetCpuPerf() != m.GetCpuPerf() || got.GetMemoryPerf() != m.GetMemoryPerf() {
			t.Errorf("%s: suggested %v, in effect %v", nodeType, m, got)
		}
		request.Override.CpuPerf = new(m.GetCpuPerf() + 1)
		_, err = o.UpdateOverride(ctx, request)
		servertest.CheckError(t, err, codes.Aborted, "ETAG_MISMATCH", fmt.Sprintf("node type %q has changed", nodeType))
		if again := suggestion(nodeType); again.GetRatioEtag() == m.GetRatioEtag() || again.GetCurrent().GetCpuPerf() != m.GetCpuPerf() {
			t.Errorf("%s: the next suggestion is %v", nodeType, again)
		}
	}
}
