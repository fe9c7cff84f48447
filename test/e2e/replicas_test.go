package e2e

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// replicas act as one: what one replica receives, the other one knows. If the leader is
// killed, the other replica leads.
func (c *cluster) replicas(t *testing.T) {
	// The fifty writers count as one caller.
	one := c.serveReady(t, "--max-calls-per-second=0")
	two := c.serveReady(t, "--max-calls-per-second=0")
	t.Run("a write on one is seen by a watch on the other", func(t *testing.T) { watchAcross(t, one, two) })
	t.Run("fifty writers lose no update", func(t *testing.T) { countTogether(t, one, two) })
	t.Run("another replica leads after the leader is killed", func(t *testing.T) { c.killLeader(t, one, two) })
}

func watchAcross(t *testing.T, one, two *server) {
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	stream, err := two.api.Ratios().WatchRatios(ctx, &workloadresizerv1.WatchRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	receive := func() *workloadresizerv1.WatchRatiosResponse {
		t.Helper()
		event, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return event
	}
	for receive().GetType() != workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK {
	}
	wrote := time.Now()
	updated, err := one.api.Overrides().UpdateOverride(ctx, &workloadresizerv1.UpdateOverrideRequest{
		Override: override("x9", 2, 1), AllowMissing: true, AllowNewNodeType: true, Reason: "measured",
	})
	if err != nil {
		t.Fatal(err)
	}
	event := receive()
	for event.GetType() == workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK {
		event = receive()
	}
	t.Logf("the other replica reported it %v after the write began", time.Since(wrote).Round(time.Millisecond))
	if event.GetType() != workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED || event.GetRatio().GetNodeType() != "x9" || event.GetRatio().GetCpuPerf() != 2 {
		t.Errorf("it reported %v", event)
	}
	deleted, err := two.api.Overrides().DeleteOverride(ctx, &workloadresizerv1.DeleteOverrideRequest{
		NodeType: "x9", Etag: updated.GetOverride().GetEtag(), RatioEtag: event.GetRatio().GetEtag(),
	})
	if err != nil || deleted.GetRatio() != nil {
		t.Errorf("deleted: %v, %v", deleted, err)
	}
}

// countTogether lets writers on both replicas increase one ratio, each by one step from
// the value that it has read.
func countTogether(t *testing.T, replicas ...*server) {
	const writers, step, nodeType = 50, 0.001, "x9"
	update := func(s *server, request *workloadresizerv1.UpdateOverrideRequest) error {
		request.Reason = "one more"
		_, err := s.api.Overrides().UpdateOverride(t.Context(), request)
		return err
	}
	if err := update(replicas[0], &workloadresizerv1.UpdateOverrideRequest{Override: override(nodeType, 1, 1), AllowMissing: true, AllowNewNodeType: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := replicas[0].api.Overrides().DeleteOverride(context.WithoutCancel(t.Context()), &workloadresizerv1.DeleteOverrideRequest{NodeType: nodeType}); err != nil {
			t.Error(err)
		}
	})
	count := func(s *server) error {
		for {
			got, err := s.api.Overrides().GetOverride(t.Context(), &workloadresizerv1.GetOverrideRequest{NodeType: nodeType})
			if status.Code(err) == codes.NotFound {
				continue // The other replica has not seen it yet.
			}
			if err != nil {
				return err
			}
			more := got.GetOverride()
			*more.CpuPerf += step
			err = update(s, &workloadresizerv1.UpdateOverrideRequest{Override: more})
			if status.Code(err) != codes.Aborted {
				return err
			}
		}
	}
	var counting sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		counting.Go(func() { errs[i] = count(replicas[i%len(replicas)]) })
	}
	counting.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, s := range replicas {
		localcluster.Eventually(t, "all steps to count", func() error {
			got, err := s.api.Ratios().GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: nodeType})
			if err != nil {
				return err
			}
			if want := 1 + writers*step; math.Abs(got.GetRatio().GetCpuPerf()-want) > step/100 {
				return fmt.Errorf("it is %v, want %v", got.GetRatio().GetCpuPerf(), want)
			}
			return nil
		})
	}
	history, err := replicas[1].api.Overrides().ListOverrideChanges(t.Context(), &workloadresizerv1.ListOverrideChangesRequest{NodeType: nodeType})
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for _, change := range history.GetChanges() {
		if change.GetReason() == "one more" {
			said++
		}
	}
	if said != writers+1 {
		t.Errorf("the history has %d of %d changes", said, writers+1)
	}
}

func override(nodeType string, cpuPerf, memoryPerf float64) *workloadresizerv1.Override {
	return &workloadresizerv1.Override{NodeType: nodeType, CpuPerf: &cpuPerf, MemoryPerf: &memoryPerf}
}

func (c *cluster) killLeader(t *testing.T, one, two *server) {
	const ns = "replicas"
	c.namespace(t, ns)
	sizes := c.recordSizes(t, ns)
	c.deploy(t, ns, app{name: "web", nodeType: "n4", replicas: 4, requests: small})
	c.awaitCPU(t, ns, "web", "80m")

	leader, follower := one, two
	if !leads(t, one) {
		leader, follower = two, one
	}
	if leads(t, follower) {
		t.Fatal("both replicas lead")
	}
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	c.reconfigure(t, follower, withN4("1.6"))
	localcluster.Eventually(t, "the other replica to lead", func() error {
		if !leads(t, follower) {
			return errors.New("it does not lead")
		}
		return nil
	})
	t.Logf("the other replica leads %v after the first was killed", time.Since(killed).Round(time.Millisecond))
	c.scale(t, ns, "web", 6)
	c.awaitCPU(t, ns, "web", "63m")
	// 100m as written, then 80m, then 63m. Pods that were created late have 63m immediately.
	for pod, seen := range sizes() {
		for i, size := range seen {
			allowed := map[string]bool{"100m": i == 0, "80m": i == 1, "63m": i > 0}
			if !allowed[size] {
				t.Errorf("pod %s had the sizes %v", pod, seen)
			}
		}
	}
}

func leads(t *testing.T, s *server) bool {
	t.Helper()
	got, err := s.api.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got.GetLeading()
}

// recordSizes watches the pods in a namespace from now on. It returns a function that returns
// the CPU requests that each pod has had, in order and without repetitions.
func (c *cluster) recordSizes(t *testing.T, namespace string) func() map[string][]string {
	t.Helper()
	watch, err := c.client.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string][]string{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watch.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			seen := sizes[pod.Name]
			if size := text(pod.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU); len(seen) == 0 || seen[len(seen)-1] != size {
				sizes[pod.Name] = append(seen, size)
			}
		}
	}()
	return func() map[string][]string {
		watch.Stop()
		<-done
		return sizes
	}
}
