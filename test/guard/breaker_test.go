package guard

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const breaker = workloadresizerv1.HoldKind_HOLD_KIND_BREAKER

// ofNamespace is the scope of the breaker of a namespace.
func ofNamespace(name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: name}}
}

// ofDeployment is the scope of the breaker of a Deployment.
func ofDeployment(namespace, name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{Workload: &workloadresizerv1.NamespacedWorkload{Namespace: namespace, Kind: "Deployment", Name: name}}}
}

// TestBreaker makes so many resizes hurt that sizing stops, kills the leader, and resets the breakers.
func TestBreaker(t *testing.T) {
	t.Parallel()
	s := newSuite(t, localcluster.Options{Nodes: "n4=2"}, configOf(1.25, fmt.Sprintf("guard: {window: 15m, unready: %v, maxUnproven: 100%%}", unready)))
	leader := s.serve(t, nil)
	s.apply(t, (&workload{name: "web", replicas: 3, work: calm}).manifest("breaker"))
	s.hurtAll(t, "breaker", "web", 3)
	s.awaitBreaker(t, leader, ofDeployment("breaker", "web"))
	s.stops(t, leader, "breaker", "web", 4)
	s.apply(t, (&workload{name: "other", replicas: 2, work: calm}).manifest("breaker"))
	s.seen.await(t, "breaker", "other", 2, "lowered, as the breaker of web does not cover them", lowered)

	follower := s.serve(t, nil)
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	leader = follower
	s.stops(t, leader, "breaker", "web", 5)
	s.reset(t, leader, ofDeployment("breaker", "web"))
	s.sizes(t, "breaker", "web", 2, 3)

	// A leader that starts later finds the same reverts, and that they were reset.
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	leader = s.serve(t, nil)
	s.scale(t, "breaker", "web", 6)
	s.sizes(t, "breaker", "web", 3, 3)
	if holds := s.holds(t, leader); len(holds) > 0 {
		t.Errorf("open again: %v", holds)
	}

	// With that of web, a fifth of the workloads has reverts.
	s.apply(t, (&workload{name: "late", replicas: 1, work: calm}).manifest("breaker"))
	late := s.seen.await(t, "breaker", "late", 1, "lowered", lowered)
	for i := range 5 {
		name := fmt.Sprint("hurt-", i)
		s.apply(t, (&workload{name: name, replicas: 1, work: calm}).manifest("breaker"))
		s.seen.await(t, "breaker", name, 1, "lowered", lowered)
	}
	for i := range 5 {
		s.hurtAll(t, "breaker", fmt.Sprint("hurt-", i), 1)
	}
	s.apply(t, (&workload{name: "web", replicas: 1, work: calm}).manifest("another"))
	s.awaitBreaker(t, leader, ofNamespace("breaker"))
	s.stops(t, leader, "breaker", "other", 3)
	s.inject(t, late, oom)
	s.seen.await(t, "breaker", "late", 1, "reverted nevertheless", recovered)
	s.seen.await(t, "another", "web", 1, "lowered, as the breaker of a namespace does not cover it", lowered)
	s.reset(t, leader, ofNamespace("breaker"))
	s.seen.await(t, "breaker", "other", 3, "lowered", lowered)
	if err := leader.Stop(); err != nil {
		t.Error(err)
	}
}

// hurtAll lets the resizes of all pods of a workload hurt, until they are reverted.
func (s *suite) hurtAll(t *testing.T, namespace, name string, pods int) {
	t.Helper()
	s.inject(t, s.seen.await(t, namespace, name, pods, "lowered", lowered), oom)
	s.seen.await(t, namespace, name, pods, "reverted", recovered)
}

// scale gives a Deployment so many pods.
func (s *suite) scale(t *testing.T, namespace, name string, replicas int) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if _, err := s.client.AppsV1().Deployments(namespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// holds returns what a server holds.
func (s *suite) holds(t *testing.T, of *server) []*workloadresizerv1.Hold {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	list, err := of.api.ListHolds(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	return list.GetHolds()
}

// awaitBreaker waits until a breaker is open.
func (s *suite) awaitBreaker(t *testing.T, of *server, scope *workloadresizerv1.HoldScope) {
	t.Helper()
	localcluster.Eventually(t, "an open breaker", func() error {
		got, err := of.api.GetHold(t.Context(), scope, breaker)
		if err != nil {
			return err
		}
		t.Logf("the breaker of %v: %s", scope, got.GetHold().GetReason())
		return nil
	})
}

// stops adds a pod to a workload, and checks that it is not sized, and says why.
func (s *suite) stops(t *testing.T, of *server, namespace, name string, replicas int) {
	t.Helper()
	before := map[types.UID]bool{}
	for _, c := range s.seen.of(namespace, name) {
		before[c.pod.UID] = true
	}
	s.scale(t, namespace, name, replicas)
	var added course
	for _, c := range s.seen.await(t, namespace, name, replicas, "running", running) {
		if !before[c.pod.UID] {
			added = c
		}
	}
	localcluster.Eventually(t, "the plan, the event and the status to say Degraded", func() error {
		p, err := of.api.PreviewPod(t.Context(), namespace, added.pod.Name)
		if err != nil {
			return err
		}
		if reasons := p.GetReasons(); len(reasons) != 1 || reasons[0].GetCode() != "Degraded" {
			return fmt.Errorf("the reasons are %v", reasons)
		}
		if !s.told(t, namespace, "Degraded")[added.pod.Name] {
			return fmt.Errorf("there is no event")
		}
		status, err := of.api.Status(t.Context())
		if err != nil {
			return err
		}
		if !status.GetLeading() || status.GetNamespaceBreakers() == 0 && status.GetWorkloadBreakers() == 0 {
			return fmt.Errorf("the status is %v", status)
		}
		return nil
	})
	for _, c := range s.seen.of(namespace, name) {
		if c.pod.UID == added.pod.UID && c.changes > 0 {
			t.Errorf("it was sized: %s", c.String())
		}
	}
}

// reset resets a breaker.
func (s *suite) reset(t *testing.T, of *server, scope *workloadresizerv1.HoldScope) {
	t.Helper()
	response, err := of.api.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: scope, Kind: breaker})
	if err != nil || len(response.GetReleased()) != 1 {
		t.Fatalf("released %v, %v", response.GetReleased(), err)
	}
}

// sizes waits until so many pods of a workload are lowered, and the others have their former size.
func (s *suite) sizes(t *testing.T, namespace, name string, small, reverted int) {
	t.Helper()
	got := 0
	s.seen.await(t, namespace, name, small+reverted, "lowered or reverted", func(c *course) bool { return lowered(c) || recovered(c) })
	for _, c := range s.seen.of(namespace, name) {
		if lowered(&c) {
			got++
		}
	}
	if got != small {
		t.Errorf("%d pods are lowered, want %d", got, small)
	}
}
