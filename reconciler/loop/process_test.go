package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func TestProcess(t *testing.T) {
	t.Run("reports failures that users need to know", reportsFailuresThatUsersNeedToKnow)
	t.Run("reports a restore that admission changed", reportsARestoreThatAdmissionChanged)
	t.Run("distinguishes an API server without the subresource from a deleted pod", distinguishesAServerWithoutTheSubresourceFromADeletedPod)
	t.Run("does not wait inside a write for a busy API server", doesNotWaitInsideAWriteForABusyServer)
	t.Run("a webhook does not decide how long all pods wait", aWebhookDoesNotDecideHowLongAllPodsWait)
	t.Run("a pod keeps its place if its resize may have been made", aPodKeepsItsPlaceIfItsResizeMayHaveBeenMade)
	t.Run("a busy API server delays the writes to all pods", aBusyServerDelaysTheWritesToAllPods)
	t.Run("no pod loses its turn to a busy API server", noPodLosesItsTurnToABusyServer)
	t.Run("a pod for which the API server is always busy does not delay the others for long", aPodForWhichTheServerIsAlwaysBusyDoesNotDelayTheOthersForLong)
	t.Run("plans a pod again if its inputs changed in the meantime", plansAPodAgainIfItsInputsChangedInTheMeantime)
	t.Run("is stuck only if no worker makes progress for a long time", isStuckOnlyIfNoWorkerMakesProgressForALongTime)
}

func reportsFailuresThatUsersNeedToKnow(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, tc := range []struct {
		name   string
		err    error
		said   contract.Reason
		paused bool
	}{
		{"not a conflict", apierrors.NewConflict(pods, "pod", errors.New("changed")), "", true},
		{"not a deleted pod", apierrors.NewNotFound(pods, "pod"), "", true},
		{"not a missing response", errors.New("connection refused"), "", true},
		{"a refusal", apierrors.NewForbidden(pods, "pod", errors.New("no")), contract.ResizeFailed, true},
		{"missing support", &actuate.RefusedError{Reason: contract.ResizeUnsupported, Err: apierrors.NewNotFound(pods, "")}, contract.ResizeUnsupported, true},
		{"not a failed record", &actuate.UnannotatedError{Err: apierrors.NewForbidden(pods, "pod", errors.New("no"))}, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, clock := idle(t, "https://127.0.0.1:1")
			p := planFor(t, podtest.Amounts{"1", "", "", ""})
			r.failed(t.Context(), p.Pod, p, tc.err)
			for _, reason := range []contract.Reason{contract.ResizeFailed, contract.ResizeUnsupported, contract.Resized} {
				want := 0.0
				if reason == tc.said {
					want = 1
				}
				if got := testutil.ToFloat64(r.metrics.outcomes.WithLabelValues(string(reason))); got != want {
					t.Errorf("%s reported %v times, want %v", reason, got, want)
				}
			}
			if paused := r.ledger.pause(p, clock.Now()) > 0; paused != tc.paused {
				t.Errorf("paused %v, want %v", paused, tc.paused)
			}
		})
	}
}

// An API server that predates pods/resize, or a proxy that does not know it, answers in ways
// that a current API server cannot be made to.
func distinguishesAServerWithoutTheSubresourceFromADeletedPod(t *testing.T) {
	const gone = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"pods \"pod\" not found","details":{"name":"pod","kind":"pods"},"code":404}`
	const noRoute = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"the server could not find the requested resource","details":{},"code":404}`
	for _, tc := range []struct {
		name, body, contentType string
		code                    int
		unsupported             bool
	}{
		{"a deleted pod", gone, "application/json", http.StatusNotFound, false},
		{"no such resource", noRoute, "application/json", http.StatusNotFound, true},
		{"no such path", "404 page not found", "text/plain", http.StatusNotFound, true},
		{"no such method", "", "text/plain", http.StatusMethodNotAllowed, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.contentType)
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer server.Close()
			r, _ := idle(t, server.URL)
			p := planOfSized(t)
			_, err := r.Writer.CarryOut(t.Context(), p)
			var refused *actuate.RefusedError
			if errors.As(err, &refused) != tc.unsupported {
				t.Fatalf("got %v", err)
			}
			r.failed(t.Context(), p.Pod, p, err)
			want := 0.0
			if tc.unsupported {
				want = 1
			}
			if got := testutil.ToFloat64(r.metrics.outcomes.WithLabelValues(string(contract.ResizeUnsupported))); got != want {
				t.Errorf("reported %v times, want %v", got, want)
			}
		})
	}
}

func doesNotWaitInsideAWriteForABusyServer(t *testing.T) {
	for after, want := range map[string]time.Duration{"30": 30 * time.Second, "9223372037": 5 * time.Minute, "99999999999999999999": firstPause, "-30": firstPause, "Sat, 21 Nov 2026 00:00:00 GMT": firstPause} {
		calls := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			w.Header().Set("Retry-After", after)
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
		}))
		defer server.Close()
		r, clock := idle(t, server.URL)
		r.Writer.Client = kubernetes.NewForConfigOrDie(actuate.ClientConfig(&rest.Config{Host: server.URL}, time.Minute))
		p := planOfSized(t)
		_, err := r.Writer.CarryOut(t.Context(), p)
		if calls != 1 || actuate.StatusCode(err) != http.StatusTooManyRequests {
			t.Fatalf("%d calls, %v", calls, err)
		}
		r.failed(t.Context(), p.Pod, p, err)
		if got := r.ledger.pause(p, clock.Now()); got != want {
			t.Errorf("Retry-After %s: a pause of %v, want %v", after, got, want)
		}
	}
}

func aBusyServerDelaysTheWritesToAllPods(t *testing.T) {
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.URL.Path)
		w.Header().Set("Retry-After", "30")
		http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
	}))
	defer server.Close()
	r, clock := idle(t, server.URL)
	r.Writer.Client = kubernetes.NewForConfigOrDie(actuate.ClientConfig(&rest.Config{Host: server.URL}, time.Minute))
	r.Writer.Permit = actuate.Always
	r.pacer = newPacer(steadily(0), nil, 1, clock)
	for _, tc := range []struct {
		pod   string
		kind  plan.Kind
		after time.Duration
		calls int
	}{
		{"first", plan.Sizes, 0, 1},
		{"second", plan.Sizes, 29 * time.Second, 1},
		{"hurt", plan.Revert, 0, 2},
		{"third", plan.Sizes, time.Second, 3},
		{"fourth", plan.Sizes, 59 * time.Second, 3}, // The delay has doubled.
		{"fifth", plan.Sizes, time.Second, 4},
	} {
		clock.Step(tc.after)
		p := planOfSized(t)
		p.Pod, p.UID, p.Kind = types.NamespacedName{Namespace: "shop", Name: tc.pod}, types.UID(tc.pod), tc.kind
		r.carryOut(t.Context(), p.Pod, p, &workload.Mark{})
		if len(calls) != tc.calls {
			t.Fatalf("%s: %d calls, want %d: %v", tc.pod, len(calls), tc.calls, calls)
		}
	}
}

func noPodLosesItsTurnToABusyServer(t *testing.T) {
	r, clock := idle(t, "https://127.0.0.1:1")
	r.pacer = newPacer(steadily(pacedRate), nil, pacedWorkers, clock)
	var waiting []types.NamespacedName
	for _, name := range []string{"a", "b", "c"} {
		pod := types.NamespacedName{Namespace: "shop", Name: name}
		if waiting = append(waiting, pod); r.pacer.mayGo(pod, need{wrong: 1}) {
			t.Fatalf("%s has a turn immediately", name)
		}
	}
	for range 2 {
		clock.Step(time.Second)
		r.brake.pull(&actuate.BusyError{Err: errBusy, Asked: 30 * time.Second}, clock.Now())
		first, wait := r.pacer.next()
		if wait != 0 {
			t.Fatalf("no turn begins for %v", wait)
		}
		p := planOfSized(t)
		p.Pod, p.UID = first, types.UID(first.Name)
		r.pacer.take(first)
		r.carryOut(t.Context(), first, p, &workload.Mark{})
		r.pacer.release(first)
		left := r.brake.left(clock.Now())
		if next, wait := r.pacer.next(); wait < left {
			t.Errorf("the turn of %s begins in %v, while the API server is busy for %v", next, wait, left)
		}
		clock.Step(left)
		if r.pacer.mayGo(first, need{wrong: 1}) {
			t.Error("the pod keeps a turn that was postponed")
		}
		if turn := r.pacer.byPod[first]; turn.failed || turn.unlucky {
			t.Error("the pod has missed its turn")
		}
	}
	if began := len(waiting) - r.pacer.backlog(); began != 0 {
		t.Errorf("%d turns are not over", began)
	}
}

func aPodForWhichTheServerIsAlwaysBusyDoesNotDelayTheOthersForLong(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/bad") {
			http.Error(w, "a webhook is overloaded", http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		p := podtest.Pod(podtest.Amounts{"500m", "500m", "512Mi", "512Mi"})
		p.APIVersion, p.Kind = "v1", "Pod"
		if err := json.NewEncoder(w).Encode(p); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	r, clock := idle(t, server.URL)
	r.pacer = newPacer(steadily(0), nil, 1, clock)
	write := func(name string) {
		p := planOfSized(t)
		p.Pod, p.UID = types.NamespacedName{Namespace: "shop", Name: name}, types.UID(name)
		r.carryOut(t.Context(), p.Pod, p, &workload.Mark{})
	}
	for n := range 10 {
		write("bad")
		left := r.brake.left(clock.Now())
		if left != firstPause {
			t.Fatalf("after %d retries, all pods wait for %v", n, left)
		}
		clock.Step(left)
		write(fmt.Sprint("good-", n))
		clock.Step(r.ledger.pods[types.NamespacedName{Namespace: "shop", Name: "bad"}].had().failed.left(clock.Now()))
	}
}

// After a timeout, the API server may have resized the pod, and the cache shows that later.
func aPodKeepsItsPlaceIfItsResizeMayHaveBeenMade(t *testing.T) {
	group := []workload.Claim{{Group: workload.Group{Namespace: "shop"}, Places: 1}}
	for name, tc := range map[string]struct {
		err   error
		keeps bool
	}{
		"no response":             {errors.New("connection reset by peer"), true},
		"a timeout":               {apierrors.NewTimeoutError("etcdserver: request timed out", 1), true},
		"too many requests":       {errBusy, false},
		"a refusal":               {apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "first", errors.New("no")), false},
		"a webhook without reply": {apierrors.NewInternalError(errors.New(`failed calling webhook "a.example"`)), false},
	} {
		r, _ := idle(t, "https://127.0.0.1:1")
		p, shown := planOfSized(t), r.places.Mark()
		if !r.places.Take(p.Pod, group, &shown) {
			t.Fatal("there is no place")
		}
		r.failed(t.Context(), p.Pod, p, tc.err)
		shown = r.places.Mark()
		if other := (types.NamespacedName{Namespace: "shop", Name: "other"}); r.places.Take(other, group, &shown) == tc.keeps {
			t.Errorf("%s: the pod keeps its place: %t", name, !tc.keeps)
		}
	}
}

// The API server passes on the status of a webhook, including its Retry-After. The webhook may be about the pods in
// a single namespace.
func aWebhookDoesNotDecideHowLongAllPodsWait(t *testing.T) {
	for code, want := range map[int32]time.Duration{http.StatusTooManyRequests: firstPause, http.StatusForbidden: 0} {
		denied := apierrors.NewTooManyRequests(`admission webhook "quota.shop.example" denied the request: later`, 300)
		denied.ErrStatus.Code = code
		var b brake
		b.pull(&actuate.BusyError{Err: denied, Asked: 5 * time.Minute}, podtest.Start)
		if got := b.left(podtest.Start); got != want {
			t.Errorf("code %d: all pods wait for %v, want %v", code, got, want)
		}
	}
}

func plansAPodAgainIfItsInputsChangedInTheMeantime(t *testing.T) {
	r, _ := idle(t, "https://127.0.0.1:1")
	in, _ := r.Cluster.Rules()
	skip := func(reason contract.Reason) *plan.Plan {
		return &plan.Plan{Decision: plan.Skip, Reasons: []plan.Reason{{Code: reason, Message: ""}}}
	}
	r.Eased("node", contract.NodeCapacity)
	for _, tc := range []struct {
		name    string
		plan    *plan.Plan
		in      cluster.Rules
		changes int64
		want    bool
	}{
		{"if there is new room", skip(contract.NodeCapacity), in, 0, true},
		{"not if nothing changed", skip(contract.NodeCapacity), in, 1, false},
		{"not if it waits for nothing", skip(contract.NotOwned), in, 0, false},
		{"if the ratios changed", skip(contract.NotOwned), cluster.Rules{Table: podtest.Table(t)}, 1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := r.overtaken(tc.plan, tc.in, tc.changes); got != tc.want {
				t.Errorf("overtaken: %v", got)
			}
		})
	}
}

func isStuckOnlyIfNoWorkerMakesProgressForALongTime(t *testing.T) {
	r, clock := idle(t, "https://127.0.0.1:1")
	if err := r.Cluster.Know(nil, nil); err != nil {
		t.Fatal(err)
	}
	r.ticked()
	clock.Step(time.Hour)
	if err := r.Live(); err != nil {
		t.Errorf("idle for an hour: %v", err)
	}
	// A pod is queued after the idle hour: a worker takes it immediately.
	r.queue.Add(types.NamespacedName{Name: "a"})
	if !r.next(t.Context()) {
		t.Fatal("the queue is shut down")
	}
	r.queue.Add(types.NamespacedName{Name: "b"})
	if err := r.Live(); err != nil {
		t.Errorf("right after a worker took a pod: %v", err)
	}
	clock.Step(stuckAfter + time.Second)
	if err := r.Live(); err == nil {
		t.Error("not stuck although no worker took a pod for a long time")
	}
}

// The API server accepts a restore, but an admission plugin changes its sizes.
func reportsARestoreThatAdmissionChanged(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod","namespace":"default","uid":"uid","resourceVersion":"9"},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"900m","memory":"1Gi"},"limits":{"cpu":"900m","memory":"1Gi"}}}]}}`))
	}))
	defer server.Close()
	l, _ := idle(t, server.URL)
	s := alone(t, podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.SizedForN4, podtest.AsResized), podtest.Node("n4"))
	s.Restore = true
	restore := (&plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}).Plan(s)
	l.held(hold.Hold{Kind: hold.Restore, Scope: hold.Scope{Namespace: "default"}})
	_, err := l.Writer.CarryOut(t.Context(), restore)
	l.failed(t.Context(), restore.Pod, restore, err)
	if got := testutil.ToFloat64(l.metrics.outcomes.WithLabelValues(string(contract.ResizeFailed))); got != 1 {
		t.Errorf("ResizeFailed reported %v times for %v", got, err)
	}
	if inTrouble(err) {
		t.Errorf("%v counts as trouble of the API server", err)
	}
}

func TestBrake(t *testing.T) {
	t.Run("a write that had begun before does not end the delay", func(t *testing.T) {
		b, now := &brake{}, podtest.Start
		b.pull(&actuate.BusyError{Err: errBusy, Asked: 30 * time.Second}, now)
		b.release(now.Add(time.Second))
		if left := b.left(now.Add(time.Second)); left != 29*time.Second {
			t.Errorf("%v are left, want 29s", left)
		}
	})
	t.Run("a write after the delay lets the next one be short", func(t *testing.T) {
		b, now := &brake{}, podtest.Start
		for range 3 {
			b.pull(errBusy, now)
			now = now.Add(b.left(now))
		}
		b.release(now)
		b.pull(errBusy, now)
		if left := b.left(now); left != firstPause {
			t.Errorf("%v are left, want %v", left, firstPause)
		}
	})
}

func TestPanic(t *testing.T) {
	t.Run("a panic delays only its own pod", aPanicDelaysOnlyItsOwnPod)
}

func aPanicDelaysOnlyItsOwnPod(t *testing.T) {
	r, _ := idle(t, "https://127.0.0.1:1")
	bad := types.NamespacedName{Namespace: "shop", Name: "bad"}
	r.survive(t.Context(), bad, func(context.Context, types.NamespacedName) { panic("odd") })
	if r.queue.Len() != 0 {
		t.Error("the pod is processed again immediately")
	}
	const want = `
# HELP workload_resizer_resizes_total Resizes by result: resized (the API server accepted the sizes), refused (rejected for this reason until something changes) or failed (a write of the resize or its record failed and is retried). Every attempt counts, except conflicts.
# TYPE workload_resizer_resizes_total counter
workload_resizer_resizes_total{reason="",result="resized"} 0
workload_resizer_resizes_total{reason="ResizeFailed",result="failed"} 1
`
	if err := testutil.GatherAndCompare(r.Metrics.(prometheus.Gatherer), strings.NewReader(want), "workload_resizer_resizes_total"); err != nil {
		t.Error(err)
	}
}

// An alert on an increase needs the value before it, which is zero in a new process.
func TestOutcomesOfAlerts(t *testing.T) {
	alerts, err := os.ReadFile("../../deploy/monitoring/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	newMetrics(registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				known[label.GetValue()] = family.GetName() == "workload_resizer_outcomes_total"
			}
		}
	}
	used := regexp.MustCompile(`outcomes_total\{reason=~?"([^"]+)"`).FindAllSubmatch(alerts, -1)
	for _, match := range used {
		for reason := range strings.SplitSeq(string(match[1]), "|") {
			if !known[reason] {
				t.Errorf("%s is not exported before it happens", reason)
			}
		}
	}
	if len(used) == 0 {
		t.Error("no alert has a reason")
	}
}
