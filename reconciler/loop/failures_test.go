package loop

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

var (
	errDenied = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "pod", errors.New("a policy says no"))
	// cannot is how the API server words a missing right.
	cannot     = `User "resizer" cannot patch resource "pods/resize" in API group "" in the namespace "shop"`
	errNoRight = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "pod", errors.New(cannot))
)

func TestFailures(t *testing.T) {
	t.Run("a plan says what its last write met, until it is tried again", aPlanSaysWhatItsLastWriteMet)
	t.Run("a denied write is repeated ever more seldom", aDeniedWriteIsRepeatedEverMoreSeldom)
	t.Run("a failure is reported once, no matter how often it repeats", aFailureIsReportedOnce)
	t.Run("a failure is reported again after the pod was well", aFailureIsReportedAgain)
	t.Run("a denied revert is reported once, too", aDeniedRevertIsReportedOnce)
	t.Run("a size that admission changed is not called resized", aSizeThatAdmissionChangedIsNotCalledResized)
	t.Run("a restore is tried again soon after a policy is gone", aRestoreIsTriedAgainSoon)
	t.Run("a revert that admission changes is repeated ever more seldom, and recorded", aRevertThatAdmissionChangesIsRecorded)
	t.Run("a long message is recorded once, and in part", aLongMessageIsRecordedOnce)
	t.Run("an annotation that is ignored is reported before a write that fails", anIgnoredAnnotationIsReported)
	t.Run("another replica knows from the pod what failed", anotherReplicaKnowsFromThePodWhatFailed)
}

// pending returns a loop over a pod that must be resized.
func pending(t *testing.T, host string) (*Loop, *corev1.Pod) {
	t.Helper()
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, podtest.ManagedBy(podtest.AsMade))
	return over(t, clustertest.Of(t, []*corev1.Pod{p}, []*corev1.Node{podtest.Node("n4")}), host), p
}

func anIgnoredAnnotationIsReported(t *testing.T) {
	denies := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(errDenied.Status())
	}))
	defer denies.Close()
	for host, failures := range map[string]float64{"https://127.0.0.1:1": 0, denies.URL: 1} {
		l, of := pending(t, host)
		of = of.DeepCopy()
		of.ResourceVersion = "2"
		podtest.Annotated("original-cpu.app", "7")(of)
		if err := l.Cluster.Know([]*pod.Pod{pod.From(of)}, nil); err != nil {
			t.Fatal(err)
		}
		if p := l.planned(of); p.Decision != plan.Resize || p.Reasons[0].Code != contract.AnnotationIgnored {
			t.Fatalf("%v because of %v", p.Decision, p.Reasons)
		}
		for range 8 {
			l.process(t.Context(), types.NamespacedName{Namespace: of.Namespace, Name: of.Name})
			clustertest.Clock(l.Cluster).Step(time.Hour)
		}
		for code, want := range map[contract.Reason]float64{contract.AnnotationIgnored: 1, contract.ResizeFailed: failures} {
			if got := testutil.ToFloat64(l.metrics.outcomes.WithLabelValues(string(code))); got != want {
				t.Errorf("%s: %s was reported %v times, want %v", host, code, got, want)
			}
		}
	}
}

func TestIgnores(t *testing.T) {
	l, of := newLedger(testMetrics()), planFor(t, podtest.Amounts{"1", "", "", ""})
	for i := range 100 {
		said := plan.Reason{Code: contract.AnnotationIgnored, Message: strings.Repeat("x", i)}
		if first, again := l.ignores(of.Pod, of.UID, said), l.ignores(of.Pod, of.UID, said); !first || again {
			t.Errorf("report %d is new: %t, and again %t", i, first, again)
		}
	}
	if n := len(l.pods[of.Pod].trouble.ignored); n != mostIgnored {
		t.Errorf("%d are remembered", n)
	}
}

// planned plans the pod of pending as the loop does.
func (l *Loop) planned(of *corev1.Pod) *plan.Plan {
	rules, _ := l.Cluster.Rules()
	return l.Planner.Plan(l.Cluster.Snapshot(pod.From(of), rules))
}

func aPlanSaysWhatItsLastWriteMet(t *testing.T) {
	l, of := pending(t, "https://127.0.0.1:1")
	p := l.planned(of)
	if p.Decision != plan.Resize {
		t.Fatalf("%v because of %v", p.Decision, p.Reasons)
	}
	until := l.Clock.Now().Add(l.ledger.attempted(p, errDenied, plan.Reason{Code: contract.ResizeFailed, Message: "a policy says no"}, l.Clock.Now()))
	failed := l.planned(of)
	if failed.Decision != plan.Skip || failed.Reasons[0].Code != contract.ResizeFailed || failed.Reasons[0].Message != "a policy says no" || !failed.ReplanAt.Equal(until) {
		t.Errorf("after the failure: %v because of %v, again at %v, want %v", failed.Decision, failed.Reasons, failed.ReplanAt, until)
	}
	clustertest.Clock(l.Cluster).SetTime(until)
	if again := l.planned(of); again.Decision != plan.Resize {
		t.Errorf("after the delay: %v because of %v", again.Decision, again.Reasons)
	}
	l.ledger.succeeded(p, "9", l.Clock.Now())
	if l.ledger.failure(p.Pod, p.UID) != nil {
		t.Error("after a success, the failure still counts")
	}
}

func aDeniedWriteIsRepeatedEverMoreSeldom(t *testing.T) {
	for _, tc := range []struct {
		err         error
		least, most int
	}{{errDenied, 24, 40}, {&actuate.MutatedError{How: "cpu"}, 1, 3}, {errNoRight, 288, 400}} {
		l, now := newLedger(testMetrics()), podtest.Start
		p, attempts := planFor(t, podtest.Amounts{"1", "", "", ""}), 0
		for end := now.Add(plan.InfeasibleFor); now.Before(end); attempts++ {
			now = now.Add(l.attempted(p, tc.err, plan.Reason{Code: contract.ResizeFailed}, now))
		}
		if attempts < tc.least || attempts > tc.most {
			t.Errorf("%v: %d attempts in a day, want %d to %d", tc.err, attempts, tc.least, tc.most)
		}
	}
}

// progress returns the plan of the same pod while its node completes a resize.
func progress(p *plan.Plan) *plan.Plan {
	q := *p
	q.Decision, q.Reasons = plan.Align, []plan.Reason{{Code: contract.ResizeInProgress, Message: "the node is resizing it"}}
	return &q
}

func aFailureIsReportedOnce(t *testing.T) {
	l, of := pending(t, "https://127.0.0.1:1")
	in, _ := l.Cluster.Rules()
	for range 5 {
		p := l.planned(of)
		l.ledger.planned(p, in, difference{}, podtest.Start)
		l.failed(t.Context(), p.Pod, p, errDenied)
		if l.queue.Len() != 1 {
			t.Fatal("the pod is not planned again, so that the status does not count the failure")
		}
		// The node may still be at work on what admission made of the resize.
		l.ledger.planned(progress(p), in, difference{}, podtest.Start)
		l.tell(t.Context(), p, progress(p).Reasons[0])
		p = l.planned(of)
		l.ledger.planned(p, in, difference{}, podtest.Start)
		l.tell(t.Context(), p, p.Reasons[0])
		clustertest.Clock(l.Cluster).SetTime(p.ReplanAt)
	}
	if got := testutil.ToFloat64(l.metrics.outcomes.WithLabelValues(string(contract.ResizeFailed))); got != 1 {
		t.Errorf("reported %v times, want once", got)
	}
	if got := l.Status().Pods; len(got) != 1 || got[0].Reason != contract.ResizeFailed {
		t.Errorf("the status counts %v", got)
	}
}

// A failure is new if the pod was well since the same plan failed before.
func aFailureIsReportedAgain(t *testing.T) {
	l := newLedger(testMetrics())
	p, failed := planFor(t, podtest.Amounts{"1", "", "", ""}), plan.Reason{Code: contract.ResizeFailed, Message: "a policy says no"}
	well := *p
	well.Decision, well.Reasons = plan.Align, []plan.Reason{{Code: contract.AlreadyAligned}}
	well.Containers = slices.Clone(p.Containers)
	well.Containers[0].Desired = well.Containers[0].Current
	for i := range 2 {
		l.planned(p, cluster.Rules{}, difference{}, podtest.Start)
		l.attempted(p, errDenied, failed, podtest.Start)
		if !l.news(p.Pod, p.UID, failed) || l.news(p.Pod, p.UID, failed) {
			t.Errorf("failure %d is not reported once", i+1)
		}
		l.planned(&well, cluster.Rules{}, difference{}, podtest.Start)
	}
}

// hurting returns a loop over a pod whose revert is recorded, but not made.
func hurting(t *testing.T) (*Loop, *corev1.Pod) {
	t.Helper()
	of := reverted("web", 0, true)
	of.Spec.Containers[0].Resources = podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}.Requirements()
	podtest.Annotated("original-cpu-limit.app", "1", "original-memory-limit.app", "1Gi")(of)
	of.Spec.NodeName = "node"
	l := over(t, clustertest.Of(t, []*corev1.Pod{of}, []*corev1.Node{podtest.Node("n4")}), "https://127.0.0.1:1")
	clustertest.Clock(l.Cluster).SetTime(podtest.At(30))
	if p := l.planned(of); p.Kind != plan.Revert || p.Decision != plan.Resize {
		t.Fatalf("%v because of %v", p.Decision, p.Reasons)
	}
	return l, of
}

func aDeniedRevertIsReportedOnce(t *testing.T) {
	l, of := hurting(t)
	in, _ := l.Cluster.Rules()
	for range 5 {
		p := l.planned(of)
		l.ledger.planned(p, in, difference{}, podtest.Start)
		l.failed(t.Context(), p.Pod, p, errDenied)
		p = l.planned(of)
		if p.Decision != plan.Skip || p.Reasons[0].Code != contract.RevertBlocked {
			t.Fatalf("%v because of %v", p.Decision, p.Reasons)
		}
		l.ledger.planned(p, in, difference{}, podtest.Start)
		l.tell(t.Context(), p, p.Reasons[0])
		clustertest.Clock(l.Cluster).SetTime(p.ReplanAt)
	}
	var reports float64
	for _, reason := range []contract.Reason{contract.ResizeFailed, contract.RevertBlocked} {
		reports += testutil.ToFloat64(l.metrics.outcomes.WithLabelValues(string(reason)))
	}
	if reports != 1 {
		t.Errorf("reported %v times, want once", reports)
	}
}

func aSizeThatAdmissionChangedIsNotCalledResized(t *testing.T) {
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		bodies = append(bodies, string(body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod","namespace":"default","uid":"uid","resourceVersion":"9"},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"900m","memory":"1Gi"}}}]}}`))
	}))
	defer server.Close()
	l, of := pending(t, server.URL)
	p := l.planned(of)
	_, err := l.Writer.CarryOut(t.Context(), p)
	if !actuate.Mutated(err) || !strings.Contains(err.Error(), "an admission policy or webhook changes it: container app: cpu request is 900m instead of 800m") {
		t.Fatalf("got %v", err)
	}
	l.failed(t.Context(), p.Pod, p, err)
	for reason, want := range map[contract.Reason]float64{contract.Resized: 0, contract.ResizeFailed: 1} {
		if got := testutil.ToFloat64(l.metrics.outcomes.WithLabelValues(string(reason))); got != want {
			t.Errorf("%s reported %v times, want %v", reason, got, want)
		}
	}
	if len(bodies) != 3 || strings.Contains(strings.Join(bodies, ""), "applied-") || !strings.Contains(bodies[2], "infeasible") {
		t.Errorf("the writes are %q", bodies)
	}
	if again := l.planned(of); again.Decision != plan.Skip || again.Reasons[0].Code != contract.ResizeFailed {
		t.Errorf("the next plan: %v because of %v", again.Decision, again.Reasons)
	}
}

// A restore that a user requested must not wait for a day, or for another leader.
func aRestoreIsTriedAgainSoon(t *testing.T) {
	for _, kind := range []plan.Kind{plan.Restore, plan.RevertRefused} {
		for _, err := range []error{errDenied, &actuate.MutatedError{How: "cpu"}} {
			l, now := newLedger(testMetrics()), podtest.Start
			p := planFor(t, podtest.Amounts{"1", "", "", ""})
			p.Kind = kind
			for range 20 {
				pause := l.attempted(p, err, plan.Reason{Code: contract.ResizeFailed}, now)
				if pause > longPause {
					t.Fatalf("kind %v after %v: it waits %v, want at most %v", kind, err, pause, longPause)
				}
				now = now.Add(pause)
			}
		}
	}
}

func aRevertThatAdmissionChangesIsRecorded(t *testing.T) {
	l, of := hurting(t)
	wrote := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { wrote++ }))
	defer server.Close()
	l.Writer.Client = kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL})
	var pause time.Duration
	for range 20 {
		p := l.planned(of)
		l.failed(t.Context(), p.Pod, p, &actuate.MutatedError{How: "cpu"})
		pause = l.ledger.pause(p, l.Clock.Now())
		clustertest.Clock(l.Cluster).Step(pause)
	}
	if pause != longPause {
		t.Errorf("it waits %v, want %v", pause, longPause)
	}
	if wrote == 0 {
		t.Error("no other replica knows of it")
	}
}

func aLongMessageIsRecordedOnce(t *testing.T) {
	l, of := pending(t, "https://127.0.0.1:1")
	failed := plan.Reason{Code: contract.ResizeFailed, Message: strings.Repeat("a policy says no, ö ", 10_000)}
	w, _ := l.planned(of).Note(failed, l.Clock.Now())
	text := *w.Annotations[contract.Infeasible]
	if len(text) > 2000 {
		t.Errorf("the annotation has %d bytes", len(text))
	}
	of.Annotations = map[string]string{contract.Infeasible: text}
	of.ManagedFields = append(of.ManagedFields, podtest.Managed(contract.FieldManager, "", 9, contract.Infeasible))
	if _, needed := l.planned(of).Note(failed, l.Clock.Now()); needed {
		t.Error("it is recorded again")
	}
}

func anotherReplicaKnowsFromThePodWhatFailed(t *testing.T) {
	l, of := pending(t, "https://127.0.0.1:1")
	p := l.planned(of)
	w, needed := p.Note(plan.Reason{Code: contract.QuotaExceeded, Message: "exceeded quota: small"}, l.Clock.Now())
	if !needed {
		t.Fatal("the failure is not recorded")
	}
	var patch struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := json.Unmarshal(p.Patch(w, ""), &patch); err != nil {
		t.Fatal(err)
	}
	of.Annotations = patch.Metadata.Annotations
	of.ManagedFields = append(of.ManagedFields, podtest.Managed(contract.FieldManager, "", 9, contract.Infeasible))
	if leads := l.planned(of); leads.Decision != plan.Resize {
		t.Errorf("a new leader: %v because of %v, want a new attempt", leads.Decision, leads.Reasons)
	}
	l.Leader = following(true)
	follows := l.planned(of)
	if follows.Decision != plan.Skip || follows.Reasons[0] != (plan.Reason{Code: contract.QuotaExceeded, Message: "exceeded quota: small"}) {
		t.Errorf("another replica: %v because of %v", follows.Decision, follows.Reasons)
	}
	if _, needed := p.Note(plan.Reason{Code: contract.ResizeFailed, Message: "another"}, l.Clock.Now()); !needed {
		t.Error("another failure is not recorded")
	}
}

// A resize that failed gives its place back, unless only its record did.
func TestPlaces(t *testing.T) {
	claims := []workload.Claim{{Group: workload.Group{Namespace: "shop"}, Places: 1}}
	for _, tc := range []struct {
		err  error
		free bool
	}{{errRefused, true}, {&actuate.StoppedError{}, true}, {&actuate.UnannotatedError{Err: errRefused}, false}} {
		r, _ := idle(t, "https://127.0.0.1:1")
		plan, shown := planOfSized(t), r.places.Mark()
		if !r.places.Take(plan.Pod, claims, &shown) {
			t.Fatal("the pod must not begin")
		}
		r.failed(t.Context(), plan.Pod, plan, tc.err)
		shown = r.places.Mark()
		if got := r.places.Take(types.NamespacedName{Namespace: "shop", Name: "other"}, claims, &shown); got != tc.free {
			t.Errorf("%v: the place is free: %t, want %t", tc.err, got, tc.free)
		}
	}
}
