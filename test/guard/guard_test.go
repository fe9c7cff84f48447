package guard

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var (
	roundsFlag     = flag.Int("rounds", 1, "number of rounds, each with new pods")
	injectionsFlag = flag.Int("injections", 3, "number of pods per round that each kind of harm is injected into")
	goodFlag       = flag.Int("good", 20, "number of pods per round whose resize does no harm")
	controlsFlag   = flag.Int("controls", 2, "number of pods per round that fare badly for each other reason")
)

// within is how soon 99% of the pods must get their former size, after their status shows the harm, or
// after a source has been asked that shows it. What the same rounds of another client take at that time comes on top.
const within = 5 * time.Second

// TestGuard injects harm, next to pods that fare well and pods that fare badly for other reasons.
func TestGuard(t *testing.T) {
	t.Parallel()
	s := newSuite(t, localcluster.Options{Nodes: "n4=3,c3=1,t2d=1", Prometheus: true}, configOf(1.25, everyPod))
	server := s.serve(t, nil, alone...)
	r := report{pace: keepPace(t, s.client)}
	defer func() { t.Log(r.String()) }()
	for n := 1; n <= *roundsFlag; n++ {
		s.round(t, server, &r, fmt.Sprintf("round-%d", n))
		if t.Failed() {
			return
		}
		if n < *roundsFlag {
			t.Log(r.String())
		}
	}
	r.judge(t)
	counted, err := server.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, harm := range contract.Harms {
		if n, err := counted.Sum("workload_resizer_reverts_total", map[string]string{"harm": string(harm)}); err != nil || n < float64(*roundsFlag**injectionsFlag) {
			t.Errorf("%v reverts because of %s are counted, of %d: %v", n, harm, *roundsFlag**injectionsFlag, err)
		}
	}
}

// round runs all injections and controls at the same time, in a namespace of their own.
func (s *suite) round(t *testing.T, server *server, r *report, namespace string) {
	t.Helper()
	s.apply(t, (&workload{name: "good", replicas: *goodFlag, work: calm}).manifest(namespace))
	for _, what := range injections {
		s.apply(t, (&workload{name: what.name, replicas: *injectionsFlag, work: calm}).manifest(namespace))
	}
	var parts sync.WaitGroup
	part := func(name string, run func(t *testing.T)) {
		parts.Go(func() { t.Run(name, run) })
	}
	for _, what := range injections {
		part(namespace+" "+what.name, func(t *testing.T) { s.injected(t, namespace, what) })
	}
	for _, c := range controls {
		part(namespace+" "+c.workload.name, func(t *testing.T) { s.control(t, r, namespace, c) })
	}
	part(namespace+" full node", func(t *testing.T) { s.fullNode(t, server, r, namespace+"-full") })
	part(namespace+" signals", func(t *testing.T) { s.reportSignals(t, server, r, namespace+"-signals") })
	part(namespace+" objective", func(t *testing.T) { s.missed(t, server, r, namespace+"-objective") })
	parts.Wait()
	for _, what := range injections {
		r.injected(t, what.name, s.seen.of(namespace, what.name), s.told(t, namespace, "RevertBlocked"))
	}
	r.kept(t, "good", s.seen.await(t, namespace, "good", *goodFlag, "lowered", lowered))
	for _, name := range []string{namespace, namespace + "-full", namespace + "-signals", namespace + "-objective"} {
		if err := s.client.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// injected makes resizes hurt, and waits until they are reverted.
func (s *suite) injected(t *testing.T, namespace string, what *injection) {
	pods := s.seen.await(t, namespace, what.name, *injectionsFlag, "lowered", lowered)
	s.inject(t, pods, what)
	s.seen.await(t, namespace, what.name, *injectionsFlag, "harmed and reverted", func(c *course) bool { return !c.harmed.IsZero() && !c.back.IsZero() })
	s.awaitEvents(t, namespace, what.name, "Reverted")
	if what != oom { // Here, the former size does not help.
		for i := range pods {
			s.work(t, &pods[i], calm)
		}
	}
	s.seen.await(t, namespace, what.name, *injectionsFlag, "running with their former size", recovered)
}

// awaitEvents waits until each pod of a workload has an event with a reason.
func (s *suite) awaitEvents(t *testing.T, namespace, workload, reason string) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("an event %s of each pod of %s", reason, workload), func() error {
		told := s.told(t, namespace, reason)
		for _, c := range s.seen.of(namespace, workload) {
			if !c.gone && !told[c.pod.Name] {
				return fmt.Errorf("%s has none", c.pod.Name)
			}
		}
		return nil
	})
}

// told returns the pods in a namespace that have an event with a reason.
func (s *suite) told(t *testing.T, namespace, reason string) map[string]bool {
	t.Helper()
	list, err := s.client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for i := range list.Items {
		told[list.Items[i].InvolvedObject.Name] = true
	}
	return told
}

// fullNode lets another pod take the room that a resize freed, before the resize hurts.
func (s *suite) fullNode(t *testing.T, server *server, r *report, namespace string) {
	blocked := &injection{name: "full", work: "{cpu: 10m, memory: 9Gi}", shows: oom.shows, back: loweredCPU + " 10Gi"}
	s.apply(t, (&workload{name: "full", nodeType: "c3", replicas: 1, memory: "10Gi", work: calm}).manifest(namespace))
	pods := s.seen.await(t, namespace, "full", 1, "lowered", func(c *course) bool {
		return sizesOf(c.pod) == loweredCPU+" 8Gi" && c.pod.Annotations[appliedKey] != "" && statusOf(c.pod).Ready
	})
	subject := pods[0].pod
	s.apply(t, (&workload{name: "burst", nodeType: "c3", replicas: 1, memory: "1000Mi", memoryLimit: "2000Mi", work: calm}).manifest(namespace))
	has := func(size string) func(*course) bool {
		return func(c *course) bool {
			return sizesOf(c.pod) == size && c.pod.Annotations[appliedKey] != "" && statusOf(c.pod).Ready
		}
	}
	bursts := s.seen.await(t, namespace, "burst", 1, "lowered", has("80m 800Mi limited to 80m 1600Mi"))
	s.fill(t, namespace, subject.Spec.NodeName)
	s.inject(t, pods, blocked)
	s.seen.await(t, namespace, "full", 1, "harmed", func(c *course) bool { return !c.harmed.IsZero() })
	s.awaitEvents(t, namespace, "full", "RevertBlocked")
	s.awaitReason(t, server, namespace, subject.Name, "RevertBlocked", "")
	s.work(t, &bursts[0], "{cpu: 10m, memory: 1800Mi}")
	s.seen.await(t, namespace, "burst", 1, "running with its former limit", has("80m 800Mi limited to 80m 2000Mi"))
	s.awaitEvents(t, namespace, "burst", "Reverted")
	if c := s.seen.of(namespace, "full")[0]; !c.back.IsZero() {
		t.Fatalf("there was room for %s", c.String())
	}
	s.seen.since(pods[0])
	now := int64(0)
	if err := s.client.CoreV1().Pods(namespace).Delete(t.Context(), "filler", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	s.seen.await(t, namespace, "burst", 1, "running with its former request, too", has("80m 1000Mi limited to 80m 2000Mi"))
	r.injected(t, "full-node", s.seen.await(t, namespace, "full", 1, "reverted and running again", recovered), s.told(t, namespace, "RevertBlocked"))
}

// fill creates a pod that takes all memory that is left on a node.
func (s *suite) fill(t *testing.T, namespace, node string) {
	t.Helper()
	on, err := s.client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var room resource.Quantity
	localcluster.Eventually(t, "the pods of earlier rounds to leave the node", func() error {
		pods, err := s.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		if err != nil {
			return err
		}
		room = on.Status.Allocatable.Memory().DeepCopy()
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.Namespace != namespace {
				return fmt.Errorf("%s/%s exists", pod.Namespace, pod.Name)
			}
			if pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == corev1.PodPending {
				room.Sub(*pod.Spec.Containers[0].Resources.Requests.Memory())
			}
		}
		return nil
	})
	s.apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: filler, namespace: %s, labels: {app: filler}}
spec:
  nodeSelector: {kubernetes.io/hostname: %s}
  containers: [{name: app, image: none, resources: {requests: {cpu: 1m, memory: "%s"}}}]
`, namespace, node, room.String()))
	s.seen.await(t, namespace, "filler", 1, "running", running)
}
