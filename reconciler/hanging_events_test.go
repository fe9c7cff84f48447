package reconciler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// hangingEvents runs a reconciler whose requests for events never return, with more
// events than fit into the queue, and checks that its pods are resized anyway.
func (s *apiServer) hangingEvents(t *testing.T) {
	n := s.node(t, "hanging-events")
	released := make(chan struct{})
	var hanging atomic.Int32
	config := s.cluster.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if !strings.Contains(r.URL.Path, "/events") {
				return next.RoundTrip(r)
			}
			hanging.Add(1)
			<-released
			return nil, errors.New("the connection is cut")
		})
	})
	// Events block nothing, even with a single client for everything.
	client := kubernetes.NewForConfigOrDie(config)
	events := loop.NewEvents(client)
	defer func() {
		close(released)
		events.Shutdown()
	}()
	store := ratios.NewStore(ratiotest.NewMemory("memory", ratios.Update{Layer: &ratios.Layer{
		Settings: keys.Some(policy.Settings{Guard: everyPod}),
		Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
	}}))
	r, err := New(Config{
		Client: client, Dynamic: s.dynamic, Writer: client, Asker: client, Ratios: store, Holds: clustertest.NoHolds{},
		Planner: plan.Planner{OwnerKinds: []string{"Node"}, External: plan.OverrideExternal},
		Events:  events, Metrics: prometheus.NewRegistry(), Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	// The recorder queues 1000 events.
	const flood = 3000
	for i := range flood {
		events.Pod(types.NamespacedName{Namespace: "default", Name: "flood"}, "", plan.Reason{Code: contract.ResizeFailed, Message: fmt.Sprint(i)})
	}
	localcluster.Eventually(t, "events to hang", func() error {
		if hanging.Load() == 0 {
			return errors.New("none was sent")
		}
		return nil
	})

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- store.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()
	controller := true
	ns := s.namespace(t)
	var pods []*corev1.Pod
	for i := range 5 {
		pods = append(pods, s.podIn(t, ns, podtest.Guaranteed, func(p *corev1.Pod) {
			p.Name = fmt.Sprintf("pod-%d", i)
			p.Spec.NodeName = n.Name
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID, Controller: &controller}}
		}))
	}
	for _, p := range pods {
		localcluster.Eventually(t, p.Name+" to be resized", func() error {
			p = s.get(t, p)
			if got := p.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "800m" || p.Annotations[contract.AppliedInstanceType] != "n4" {
				return fmt.Errorf("it has %s, %v", got, p.Annotations)
			}
			return nil
		})
	}
	if got := hanging.Load(); got != 1 {
		t.Errorf("%d events in progress, want the one that hangs", got)
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
}
