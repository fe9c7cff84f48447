package guard

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// control is a way in which pods fare badly that has nothing to do with their resize.
type control struct {
	workload workload
	happens  func(s *suite, t *testing.T, namespace string, w *workload)
}

// slow is work that takes longer until it is ready than a resize may make it unready.
const slow = "{cpu: 10m, memory: 16Mi, ready: {after: 20s}}"

// unstarted is work that is not ready before it is replaced.
const unstarted = "{cpu: 10m, memory: 16Mi, ready: {after: 1000h}}"

var controls = []control{
	{workload{name: "oom-before", work: calm, skipped: true}, oomBefore},
	{workload{name: "rollout", work: calm}, rollout},
	{workload{name: "drain", work: calm}, drain},
	{workload{name: "lost-node", nodeType: "t2d", work: calm}, lostNode},
	{workload{name: "restart", work: calm}, authorsRestart},
	{workload{name: "slow-start", work: unstarted}, slowStart},
}

// control lets pods fare badly. None may be reverted.
func (s *suite) control(t *testing.T, r *report, namespace string, c control) {
	w := c.workload
	w.replicas = *controlsFlag
	s.apply(t, w.manifest(namespace))
	c.happens(s, t, namespace, &w)
	s.seen.await(t, namespace, w.name, w.replicas, "lowered at the end", lowered)
	r.kept(t, w.name, s.seen.of(namespace, w.name))
}

func oomBefore(s *suite, t *testing.T, namespace string, w *workload) {
	pods := s.seen.await(t, namespace, w.name, w.replicas, "running", running)
	for i := range pods {
		s.work(t, &pods[i], "{cpu: 10m, memory: 200Mi}")
	}
	killed := func(c *course) bool { return !killedAt(statusOf(c.pod)).IsZero() }
	s.seen.await(t, namespace, w.name, w.replicas, "killed", killed)
	for i := range pods {
		s.work(t, &pods[i], calm)
	}
	s.seen.await(t, namespace, w.name, w.replicas, "running again", func(c *course) bool { return running(c) && killed(c) })
	for i := range pods {
		s.annotate(t, namespace, pods[i].pod.Name, "workload-resizer.io/skip", "")
	}
}

func rollout(s *suite, t *testing.T, namespace string, w *workload) {
	before := s.seen.await(t, namespace, w.name, w.replicas, "lowered", lowered)
	next := *w
	next.work = slow
	s.apply(t, next.manifest(namespace))
	old := map[types.UID]bool{}
	for i := range before {
		old[before[i].pod.UID] = true
	}
	s.seen.await(t, namespace, w.name, w.replicas, "replaced", func(c *course) bool { return !old[c.pod.UID] && running(c) })
}

func drain(s *suite, t *testing.T, namespace string, w *workload) {
	before := s.seen.await(t, namespace, w.name, w.replicas, "lowered", lowered)
	node := before[0].pod.Spec.NodeName
	s.cordon(t, node, true)
	old := map[types.UID]bool{}
	for i := range before {
		pod := before[i].pod
		if pod.Spec.NodeName != node {
			continue
		}
		old[pod.UID] = true
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: namespace}}
		if err := s.client.CoreV1().Pods(namespace).EvictV1(t.Context(), eviction); err != nil {
			t.Fatal(err)
		}
	}
	s.seen.await(t, namespace, w.name, w.replicas, "elsewhere", func(c *course) bool { return !old[c.pod.UID] && running(c) })
	s.cordon(t, node, false)
}

// cordon lets a node accept no new pods, or accept them again.
func (s *suite) cordon(t *testing.T, node string, off bool) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, off)
	if _, err := s.client.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// lostNode kills the kubelet until the cluster notices.
func lostNode(s *suite, t *testing.T, namespace string, w *workload) {
	node := s.seen.await(t, namespace, w.name, w.replicas, "lowered", lowered)[0].pod.Spec.NodeName
	if err := s.Stop(t.Context(), "node-"+node); err != nil {
		t.Fatal(err)
	}
	s.seen.await(t, namespace, w.name, w.replicas, "not ready", func(c *course) bool { return !ready(c.pod) })
	if err := s.Start(t.Context(), "node-"+node); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the node to be ready again", func() error {
		n, err := s.client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range n.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", n.Status.Conditions)
	})
	s.seen.await(t, namespace, w.name, w.replicas, "ready again", func(c *course) bool { return ready(c.pod) })
}

// ready reports whether a pod is ready.
func ready(pod *corev1.Pod) bool { return !readySince(pod).IsZero() }

// readySince returns when a pod became ready; zero if it is not.
func readySince(pod *corev1.Pod) time.Time {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return condition.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// authorsRestart ends containers without a failure, more often than failures count.
func authorsRestart(s *suite, t *testing.T, namespace string, w *workload) {
	pods := s.seen.await(t, namespace, w.name, w.replicas, "lowered", lowered)
	for i := range pods {
		s.work(t, &pods[i], "{cpu: 10m, memory: 16Mi, job: {coreSeconds: 0.001}}")
	}
	s.seen.await(t, namespace, w.name, w.replicas, "restarted twice", func(c *course) bool { return statusOf(c.pod).RestartCount >= 2 })
	for i := range pods {
		s.work(t, &pods[i], calm)
	}
}

// slowStart makes pods ready long after their resize: that is how long they take to start.
func slowStart(s *suite, t *testing.T, namespace string, w *workload) {
	for _, c := range s.seen.await(t, namespace, w.name, w.replicas, "lowered before they were ready, for long", func(c *course) bool {
		resized, err := time.Parse(time.RFC3339, c.pod.Annotations["workload-resizer.io/applied-at"])
		return sized(c) && !ready(c.pod) && err == nil && time.Since(resized) > 2*unready
	}) {
		s.work(t, &c, calm)
	}
}
