package e2e

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
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
	changes, err := c.client.CoreV1().Pods(namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string][]string{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range changes.ResultChan() {
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
		changes.Stop()
		<-done
		return sizes
	}
}

// historySurvives kills a leader that has stored nothing of what happened, and its successor while it stores that. Every
// pause of which a caller knows is in the history of all replicas, once, and both kills are in gaps.
func (c *cluster) historySurvives(t *testing.T) {
	began := timestamppb.Now()
	c.configure(t, promptConfig())
	marked := c.recorded(t)
	first := c.serveReady(t)
	localcluster.Eventually(t, "the first leader to record", func() error {
		if c.recorded(t) == marked {
			return errors.New("it has stored nothing")
		}
		return nil
	})
	reader := c.serveReady(t, "--dry-run")
	told := follow(t, reader, began)
	second := c.serveReady(t)
	var kills []time.Time
	kill := func(s *server) {
		t.Helper()
		kills = append(kills, time.Now())
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	pause := func(through *server, namespaces ...string) {
		t.Helper()
		for _, namespace := range namespaces {
			c.namespace(t, namespace)
			if _, err := through.api.Pause(t.Context(), &workloadresizerv1.PauseRequest{
				Scope: &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: namespace}}, Reason: "release",
			}); err != nil {
				t.Fatal(err)
			}
			want = append(want, namespace+": none → pause")
		}
	}

	pause(second, "history-a", "history-b")
	kill(first)
	stored, err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Stop()
	localcluster.Eventually(t, "the second replica to lead, rather than the third", func() error {
		if !leads(t, second) {
			return errors.New("it does not")
		}
		return nil
	})
	third := c.serveReady(t)
	pause(third, "history-c")
	for event := range stored.ResultChan() {
		if cm, ok := event.Object.(*corev1.ConfigMap); ok && event.Type == watch.Modified && strings.HasPrefix(cm.Name, contract.DefaultNames.JournalPrefix) && cm.Data["segment"] != "" && leads(t, second) {
			break
		}
	}
	pause(third, "history-d")
	kill(second)

	slices.Sort(want)
	localcluster.Eventually(t, "the history of both replicas", func() error {
		for _, s := range []*server{third, reader} {
			pauses, gaps := listed(t, s, began)
			if !slices.Equal(pauses, want) {
				return fmt.Errorf("it has %q, want %q", pauses, want)
			}
			for _, at := range kills {
				if !slices.ContainsFunc(gaps, func(e *workloadresizerv1.JournalEntry) bool {
					return e.GetReason() == "NotStored" && !e.GetStartTime().AsTime().After(at) && at.Before(e.GetEndTime().AsTime().Add(time.Second))
				}) {
					return fmt.Errorf("none of the gaps %v has %s", gaps, at)
				}
			}
		}
		for _, e := range want {
			if n := told(e); n != 1 {
				return fmt.Errorf("the watch has told %q %d times", e, n)
			}
		}
		return nil
	})
}

// recorded returns how far the journal says that it was recorded.
func (c *cluster) recorded(t *testing.T) string {
	t.Helper()
	cm, err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Get(t.Context(), contract.DefaultNames.JournalPrefix+"-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm.Data["recorded"]
}

// holdsAndGaps are the kinds of entries that historySurvives is about.
var holdsAndGaps = []workloadresizerv1.JournalEntryKind{workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_HOLD, workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP}

// listed returns the pauses of namespaces since a time, in order of their names, and the gaps.
func listed(t *testing.T, s *server, since *timestamppb.Timestamp) (pauses []string, gaps []*workloadresizerv1.JournalEntry) {
	t.Helper()
	for e, err := range s.api.ListEntries(t.Context(), &workloadresizerv1.ListEntriesRequest{Kinds: holdsAndGaps, SinceTime: since}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.GetKind() == workloadresizerv1.JournalEntryKind_JOURNAL_ENTRY_KIND_GAP:
			gaps = append(gaps, e)
		case strings.HasPrefix(e.GetNamespace(), "history-"):
			pauses = append(pauses, pauseText(e))
		}
	}
	slices.Sort(pauses)
	return pauses, gaps
}

func pauseText(e *workloadresizerv1.JournalEntry) string {
	return e.GetNamespace() + ": " + e.GetFrom() + " → " + e.GetTo()
}

// follow watches the history of a replica until the test ends. It returns a function that returns how often an entry was
// told.
func follow(t *testing.T, s *server, since *timestamppb.Timestamp) func(pause string) int {
	t.Helper()
	var mu sync.Mutex
	told := map[string]int{}
	go func() {
		for event, err := range s.api.WatchEntries(t.Context(), &workloadresizerv1.WatchEntriesRequest{Kinds: holdsAndGaps, SinceTime: since}) {
			if err != nil {
				return // The test has ended.
			}
			mu.Lock()
			told[pauseText(event.Object)]++
			mu.Unlock()
		}
	}()
	return func(pause string) int {
		mu.Lock()
		defer mu.Unlock()
		return told[pause]
	}
}
