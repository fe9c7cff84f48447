package benchmarks

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// serving configures the viewer and the slots of a test server; each field has a default.
type serving struct {
	// viewer determines what callers can see; by default everything.
	viewer access.Viewer
	slots  *limits.Slots
	// production is nil unless the server uses that source.
	production Production
}

// serve starts a BenchmarkService on m, which may be nil.
func serve(t testing.TB, p *servertest.Parts, m Measured, of serving) workloadresizerv1.BenchmarkServiceClient {
	t.Helper()
	if of.viewer == nil {
		of.viewer = servertest.All
	}
	s := New(Config{
		Benchmarks: m, Production: of.production, Ratios: ratioservice.New(ratioservice.Config{Store: p.Store, Impacts: p.Loop, Viewer: of.viewer}),
		Store: p.Store, Reconciler: p.Loop, Demands: p.Loop.Demands, Viewer: of.viewer, Slots: of.slots,
	})
	return workloadresizerv1.NewBenchmarkServiceClient(servertest.Connect(t, s))
}

// used converts m to the interface; a nil pointer becomes a nil interface.
func used(m *servertest.Measured) Measured {
	if m == nil {
		return nil
	}
	return m
}

// measuring starts a BenchmarkService in a cluster of nodes with these labels.
func measuring(t testing.TB, m *servertest.Measured, nodes map[string]map[string]string) workloadresizerv1.BenchmarkServiceClient {
	t.Helper()
	var all []corev1.Node
	for name, labels := range nodes {
		all = append(all, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	p := servertest.Start(t, servertest.Setup{Cluster: servertest.Frozen(t, nil, all)}).Known(t)
	return serve(t, p, m, serving{})
}
