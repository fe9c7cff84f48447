package overrides

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/access"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// suite creates services whose overrides are in ConfigMaps of a real API server.
type suite struct {
	client    kubernetes.Interface
	namespace string
	// n counts the services, and name is the ConfigMap of the last one.
	n    int
	name string
}

func TestOverrides(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	x := &suite{client: kubernetes.NewForConfigOrDie(namespace.Config()), namespace: namespace.Name}
	for _, tc := range []struct {
		name string
		test func(*testing.T, *suite)
	}{
		{"an override is in effect from the response until it is deleted", inEffect},
		{"a CPU model of a node type has its own ratio", cpuModel},
		{"a new override needs allow_missing", newOverride},
		{"a new node type needs allow_new_node_type and both performances", newNodeType},
		{"a batch is applied as a whole or not at all", batch},
		{"the author is the caller, and only a local caller can name one", authorIsCaller},
		{"unchanged values come from the stored overrides, not from a stale table", patchOfAStaleTable},
		{"a change that makes ratios implausible needs allow_implausible", implausible},
		{"rules and ratios relative to another type are judged by what results", implausibleElsewhere},
		{"an etag is valid for one change", etagOnce},
		{"an etag covers every field of the override", etagCovers},
		{"the etag none is valid until there is an override", etagOfAbsence},
		{"a ratio_etag is valid until the ratio in effect changes, whatever the cause", ratioEtag},
		{"the ratio_etag none is valid until the node type has a ratio", ratioEtagOfAbsence},
		{"a request that is sent again returns the change that it made", sentAgain},
		{"validate_only returns the result and writes nothing", validated},
		{"the baseline cannot lose its only ratio", baselineInUse},
		{"deleting a missing override needs allow_missing", deleteMissing},
		{"a dry run refuses changes", dryRun},
		{"a missing ConfigMap is reported with advice", missingConfigMap},
		{"overrides are listed in pages, ordered by node type", listed},
		{"get returns the override of one node type", gotten},
		{"changes are listed in pages and can be rolled back", changes},
		{"a temporary override falls back to the permanent one, and the history shows the expiry", fallsBack},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, x) })
	}
}

// server is an OverrideService with the ratios that it changes.
type server struct {
	*Service
	store  *ratios.Store
	ratios *ratioservice.Service
	// source is the ConfigMap of the user, and measured has the lowest precedence.
	source, measured *ratiotest.Memory
	ctx              context.Context
}

// serve returns a service for a local caller. Its ConfigMap is x.name.
func (x *suite) serve(t *testing.T, opts ...override.Option) *server {
	t.Helper()
	x.n++
	x.name = fmt.Sprintf("overrides-%d", x.n)
	servertest.ConfigMapIn(t, x.client, x.namespace, x.name)
	return x.replica(t, opts...)
}

// replica returns another service with the same ConfigMap as the last one.
func (x *suite) replica(t *testing.T, opts ...override.Option) *server {
	t.Helper()
	s := &server{
		source:   ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}),
		measured: ratiotest.NewMemory("benchmark", ratios.Update{Layer: &ratios.Layer{}}),
		ctx:      access.NewContext(t.Context(), access.Caller{Local: true}),
	}
	overrides := override.New(x.client, x.namespace, x.name, opts...)
	s.store = ratios.NewStore(overrides, s.source, s.measured)
	servertest.Run(t, s.store.Run)
	localcluster.Eventually(t, "the ratios", func() error { _, err := s.store.Ready(); return err })
	s.ratios = ratioservice.New(ratioservice.Config{Store: s.store, Overrides: overrides, Impacts: impactOf("n4"), Viewer: servertest.All})
	s.Service = New(Config{Store: s.store, Overrides: overrides, Ratios: s.ratios})
	return s
}

// impactOf is a node type whose cpu performance in the given table is the number of pods in
// the impact.
type impactOf string

func (nodeType impactOf) Impact(_ context.Context, table *ratios.Table) (*query.Impact, error) {
	entry, ok := table.Lookup(string(nodeType))
	if !ok {
		return &query.Impact{}, nil
	}
	return &query.Impact{Total: query.ImpactGroup{Pods: int(entry.Ratio.CPUPerf)}}, nil
}

// cpu returns a request that sets the cpu performance of a node type.
func cpu(nodeType string, perf float64) *workloadresizerv1.UpdateOverrideRequest {
	return &workloadresizerv1.UpdateOverrideRequest{Override: &workloadresizerv1.Override{NodeType: nodeType, CpuPerf: &perf}, AllowMissing: true}
}

// both returns a request that sets both performances of a node type that no source may know.
func both(nodeType string, cpuPerf, memoryPerf float64) *workloadresizerv1.UpdateOverrideRequest {
	request := cpu(nodeType, cpuPerf)
	request.Override.MemoryPerf, request.AllowNewNodeType = &memoryPerf, true
	return request
}

func (s *server) must(t *testing.T, request *workloadresizerv1.UpdateOverrideRequest) *workloadresizerv1.UpdateOverrideResponse {
	t.Helper()
	response, err := s.UpdateOverride(s.ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// get returns the ratio in effect, nil if there is none.
func (s *server) get(nodeType string) *workloadresizerv1.Ratio {
	response, err := s.ratios.GetRatio(s.ctx, &workloadresizerv1.GetRatioRequest{NodeType: nodeType})
	if err != nil {
		return nil
	}
	return response.GetRatio()
}

// override returns the override of a node type, nil if there is none.
func (s *server) override(t *testing.T, nodeType string) *workloadresizerv1.Override {
	t.Helper()
	response, err := s.GetOverride(s.ctx, &workloadresizerv1.GetOverrideRequest{NodeType: nodeType})
	if servertest.ReasonOf(err) == "NO_OVERRIDE" {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return response.GetOverride()
}

// set changes the ratios of the user, and waits until they are in effect.
func (s *server) set(t *testing.T, change func(*ratios.Layer)) {
	t.Helper()
	l := servertest.Layer()
	change(l)
	read := func() time.Time { return s.store.Sources()[1].LastGood }
	before := read()
	s.source.Set(ratios.Update{Layer: l})
	localcluster.Eventually(t, "the ratios of the user", func() error {
		if !read().After(before) {
			return errors.New("not read yet")
		}
		return nil
	})
}
