package loop

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// over returns a loop over a cluster. It does not run, and writes to an API server at host.
func over(t testing.TB, c *cluster.Cluster, host string) *Loop {
	t.Helper()
	registry := prometheus.NewRegistry()
	l := New(Config{
		Cluster: c, Planner: c.Planner, Ratios: c.Ratios, Holds: clustertest.NoHolds{},
		Writer: actuate.New(actuate.Config{
			Client: kubernetes.NewForConfigOrDie(&rest.Config{Host: host}), Limiter: actuate.NewLimiter(0, 0), Permit: actuate.Always,
			Clock: c.Clock, Metrics: actuate.NewMetrics(registry),
		}),
		Events: NoEvents(), Metrics: registry, Workers: 1, Clock: c.Clock,
	})
	t.Cleanup(l.queue.ShutDown)
	return l
}

// idle returns a loop over a cluster whose state is unknown, and its clock.
func idle(t testing.TB, host string) (*Loop, *testingclock.FakeClock) {
	t.Helper()
	c := clustertest.Unread(t)
	return over(t, c, host), clustertest.Clock(c)
}

// filled returns a loop over a cluster with these pods and nodes.
func filled(t testing.TB, pods []*corev1.Pod, nodes []*corev1.Node) *Loop {
	t.Helper()
	return over(t, clustertest.Of(t, pods, nodes), "https://127.0.0.1:1")
}

// ruled returns a loop over an empty cluster, with a table in effect and these holds.
func ruled(t testing.TB, holds ...hold.Hold) *Loop {
	t.Helper()
	l := filled(t, nil, nil)
	l.held(holds...)
	return l
}

// held puts these holds into effect.
func (l *Loop) held(holds ...hold.Hold) {
	held := clustertest.Holding(holds...)
	l.Holds, l.Cluster.Holds = held, held
}

// alone returns a snapshot of a pod on a node where nothing prevents a resize.
func alone(t testing.TB, p *corev1.Pod, n *corev1.Node) *plan.Snapshot {
	t.Helper()
	return &plan.Snapshot{Pod: pod.From(p), Table: podtest.Table(t), Around: safety.Surroundings{Room: node.Room{Node: n}}}
}

// planOfSized returns a plan whose first write is a resize: the pod has its originals.
func planOfSized(t testing.TB) *plan.Plan {
	t.Helper()
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.SizedForN4, podtest.AsResized)
	return (&plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}).Plan(alone(t, p, podtest.Node("big")))
}

// reasonsOf returns the reason codes of a plan.
func reasonsOf(p *plan.Plan) []contract.Reason {
	var codes []contract.Reason
	for _, r := range p.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

// steadily returns a pace without a limit for what resizes free.
func steadily(perSecond float64) func() pace {
	return func() pace { return pace{perSecond: perSecond} }
}
