package loop

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// hurried is a loop over one resized pod, whose turn comes after a second and whose rate of
// requests is used up. Its API server records writes, and refuses them while it is busy.
type hurried struct {
	*Loop
	clock  *testingclock.FakeClock
	pod    types.NamespacedName
	writes []string
	busy   bool
}

func newHurried(t *testing.T) *hurried {
	t.Helper()
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, clustertest.Named("shop", "web", "n4"), podtest.SizedForN4, podtest.AsResized)
	h := &hurried{pod: types.NamespacedName{Namespace: "shop", Name: "web"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.writes = append(h.writes, r.URL.Path)
		if h.busy {
			w.Header().Set("Retry-After", "30")
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		now := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, clustertest.Named("shop", "web", "n4"))
		now.APIVersion, now.Kind = "v1", "Pod"
		if err := json.NewEncoder(w).Encode(now); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	h.Loop = over(t, clustertest.Of(t, []*corev1.Pod{p}, []*corev1.Node{clustertest.Node("n4", "n4", "8")}), server.URL)
	h.clock = clustertest.Clock(h.Cluster)
	h.Writer.Client = kubernetes.NewForConfigOrDie(actuate.ClientConfig(&rest.Config{Host: server.URL}, time.Minute))
	h.Writer.Limiter = patient{meanwhile: func() { t.Error("a write waits for the rate of requests") }}
	h.pacer = newPacer(steadily(1), nil, 1, h.clock)
	return h
}

// restored puts a restore of everything into effect, and processes the pod.
func (h *hurried) restored(t *testing.T, emergency bool) {
	t.Helper()
	h.held(hold.Hold{Kind: hold.Restore, Emergency: emergency})
	h.process(t.Context(), h.pod)
}

func TestEmergency(t *testing.T) {
	complete := []string{"/api/v1/namespaces/shop/pods/web/resize", "/api/v1/namespaces/shop/pods/web"}
	t.Run("waits neither for a turn nor for the rate of requests", func(t *testing.T) {
		h := newHurried(t)
		h.restored(t, true)
		if !slices.Equal(h.writes, complete) {
			t.Errorf("the writes are %v", h.writes)
		}
	})
	t.Run("is what a restore that waits can become", func(t *testing.T) {
		h := newHurried(t)
		h.restored(t, false)
		if len(h.writes) > 0 || h.pacer.backlog() != 1 {
			t.Fatalf("a plain restore does not wait: %v, %d wait", h.writes, h.pacer.backlog())
		}
		h.restored(t, true)
		if !slices.Equal(h.writes, complete) || h.pacer.backlog() != 0 {
			t.Errorf("the writes are %v, and %d pods wait for a turn", h.writes, h.pacer.backlog())
		}
	})
	t.Run("can become a restore that waits", func(t *testing.T) {
		h := newHurried(t)
		h.busy = true
		h.restored(t, true)
		h.busy = false
		h.clock.Step(time.Minute)
		h.restored(t, false)
		if len(h.writes) != 1 || h.pacer.backlog() != 1 {
			t.Errorf("the writes are %v, and %d pods wait for a turn", h.writes, h.pacer.backlog())
		}
	})
	t.Run("is as slow as a busy API server asks", func(t *testing.T) {
		h := newHurried(t)
		h.busy = true
		h.restored(t, true)
		h.busy = false
		for _, after := range []time.Duration{0, 29 * time.Second} {
			h.clock.Step(after)
			h.restored(t, true)
			if len(h.writes) != 1 {
				t.Fatalf("a write begins %v after the API server has asked for 30s: %v", after, h.writes)
			}
		}
		h.clock.Step(time.Second)
		h.restored(t, true)
		if !slices.Equal(h.writes[1:], complete) {
			t.Errorf("the writes are %v", h.writes)
		}
	})
	t.Run("is previewed within the rate of requests", func(t *testing.T) {
		h := newHurried(t)
		h.held(hold.Hold{Kind: hold.Restore, Emergency: true})
		waited := 0
		h.Writer.Limiter = patient{meanwhile: func() { waited++ }}
		rules, _ := h.Cluster.Rules()
		p := h.Planner.Plan(h.Cluster.Snapshot(h.Cluster.Pods("shop").Get("web"), rules))
		if h.Writer.Ask(t.Context(), p); !p.Emergency || len(h.writes) != 1 || waited != 1 {
			t.Errorf("emergency: %t, %d of the requests %v waited", p.Emergency, waited, h.writes)
		}
	})
	t.Run("stops while the cluster is frozen", func(t *testing.T) {
		h := newHurried(t)
		frozen := clustertest.Frozen(hold.Freeze{}, hold.Hold{Kind: hold.Restore, Emergency: true})
		h.Holds, h.Cluster.Holds = frozen, frozen
		h.process(t.Context(), h.pod)
		if len(h.writes) > 0 {
			t.Errorf("the writes are %v", h.writes)
		}
	})
}

// BenchmarkEmergency measures what it costs to find and to plan the pods of an emergency restore
// of the cluster.
func BenchmarkEmergency(b *testing.B) {
	const pods = 150_000
	nodes := make([]*corev1.Node, 200)
	for i := range nodes {
		nodes[i] = clustertest.Node(fmt.Sprint("node-", i), "n4", "64000")
	}
	l := over(b, clustertest.Thousands(b, pods, 200, nodes...), "https://127.0.0.1:1")
	in := [...]cluster.Rules{{Table: l.Ratios.Table(), Holds: hold.NewTable(nil)}, {Table: l.Ratios.Table(), Holds: hold.NewTable([]hold.Hold{{Kind: hold.Restore, Emergency: true}})}}
	for _, of := range l.Cluster.Pods("").List() {
		l.ledger.planned(l.Planner.Plan(l.Cluster.Snapshot(of, in[0])), in[0], difference{}, l.Clock.Now())
	}
	var finding, planning time.Duration
	for b.Loop() {
		began := time.Now()
		l.enqueueAffected(in[0], in[1])
		finding += time.Since(began)
		began = time.Now()
		for range pods {
			name, _ := l.queue.Get()
			of := l.Cluster.Pods(name.Namespace).Get(name.Name)
			if p := l.Planner.Plan(l.Cluster.Snapshot(of, in[1])); !p.Emergency {
				b.Fatalf("the plan of %s: %v", name, p.Reasons)
			}
			l.queue.Done(name)
		}
		planning += time.Since(began)
	}
	b.ReportMetric(float64(finding.Nanoseconds())/float64(b.N)/pods, "ns/pod-found")
	b.ReportMetric(float64(planning.Nanoseconds())/float64(b.N)/pods, "ns/pod-planned")
}
