package feeder_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/feeder"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// evicted is the status that a kubelet writes when its node is low on memory. Nodes in the test
// cluster kill instead.
func evicted(at time.Time) corev1.PodStatus {
	return corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: "Evicted",
		Message:    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. Container machine was using 900Mi, request is 64Mi, has larger consumption of memory. ",
		Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet", LastTransitionTime: metav1.NewTime(at)}},
	}
}

func TestEviction(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	if err := namespace.Apply(t.Context(), []byte(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeName: none, containers: [{name: machine, image: none, resources: {requests: {memory: 64Mi}}}]}
`)); err != nil {
		t.Fatal(err)
	}
	f := &feeder.Feeder{Client: client, Namespace: namespace.Name, NodeLabel: nodeLabel, JobLabel: "app"}
	var pod *corev1.Pod
	localcluster.Eventually(t, "a pod", func() error {
		pods, err := client.CoreV1().Pods(namespace.Name).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(pods.Items) == 0 {
			return errors.Join(err, errors.New("no pod"))
		}
		pod = &pods.Items[0]
		return f.Refresh(t.Context())
	})
	options := recommend.FollowOptions()
	options.Floor = recommend.Amounts{}
	store := usage.New(f.Lookup, func(history.Container) usage.Options {
		return usage.Options{History: history.DefaultOptions(), Recommend: options, Containers: 1}
	}, (&trace.Source{}).Name())
	now := time.Now().Truncate(time.Second).Add(time.Second)
	source := &trace.Source{Namespace: namespace.Name, Machines: []*trace.Machine{{
		Name: pod.Name, Rows: []trace.Row{{At: now.Unix(), CPU: 100, Memory: 64 << 20}},
	}}}
	if err := store.Collect(t.Context(), source, now.Add(-time.Minute), now); err != nil || store.Sources()[0].Counted != 2 {
		t.Fatalf("%+v, %v", store.Sources(), err)
	}
	memory := func() int64 {
		table := store.Publish(feeder.Everywhere("all", recommend.Uniform), now)
		r, _ := table.Demand(usage.Key{Container: history.Container{Namespace: namespace.Name, Kind: "Deployment", Workload: "web", Name: "machine"}, Ratios: "all"})
		return r.Target.Memory
	}
	const headroom = 250 << 20
	if before := memory(); before < 64<<20+headroom || before > 100<<20+headroom {
		t.Errorf("%d bytes before the eviction", before)
	}
	pod.Status = evicted(now)
	if _, err := client.CoreV1().Pods(namespace.Name).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // A kill counts once.
		if err := errors.Join(f.Refresh(t.Context()), f.Kill(store, now)); err != nil {
			t.Fatal(err)
		}
		// It used 900 MiB, which grows by 20%, a bucket and the headroom.
		if after, least := memory(), int64(900<<20*12/10+headroom); after < least || after > least*106/100 {
			t.Errorf("%d bytes after the eviction, want about %d", after, least)
		}
	}
}
