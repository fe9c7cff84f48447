package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// bystanders are the meddler's right to create pods, and somebody who may resize them.
const bystanders = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: resizer, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: creator }
rules:
  - { apiGroups: [""], resources: [pods], verbs: [create] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: resizer }
rules:
  - { apiGroups: [""], resources: [pods, pods/resize, pods/status], verbs: [patch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: creator }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: creator }
subjects:
  - { kind: ServiceAccount, name: meddler, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: resizer }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: resizer }
subjects:
  - { kind: ServiceAccount, name: resizer, namespace: default }
`

// forgery is a cluster with the guard, and others than the meddler who write pods there.
type forgery struct {
	guarded
	kubelet, resizer kubernetes.Interface
	version          *version.Version
}

// TestAnnotationGuardForgeries has somebody who may write pods and their statuses, but
// not resize them, make the server believe what was never so.
func TestAnnotationGuardForgeries(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	config := cluster.Config()
	if err := localcluster.Apply(t.Context(), config, append(Base(), AnnotationGuard(), []byte(bystanders))...); err != nil {
		t.Fatal(err)
	}
	f := &forgery{
		guarded: guarded{admin: kubernetes.NewForConfigOrDie(config), server: as(t, config, Namespace, ServiceAccount), meddler: asMeddler(t, config)},
		kubelet: kubernetes.NewForConfigOrDie(localcluster.AsNode(config, "node")),
		resizer: as(t, config, "default", "resizer"),
		version: cluster.Version(),
	}
	room := corev1.ResourceList{"cpu": resource.MustParse("1k"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("1k")}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Status: corev1.NodeStatus{Allocatable: room, Capacity: room}}
	if _, err := f.admin.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	probe, tries := f.pod(t, "node"), 0
	localcluster.Eventually(t, "the policy to be in force", func() error {
		tries++ // Where nothing changes, nothing is refused.
		err := patchPod(t.Context(), f.meddler, probe, fmt.Sprintf(`{"metadata":{"annotations":{"workload-resizer.io/probe":"%d"}}}`, tries), "")
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("it is not: %w", cmp.Or(err, errors.New("everything is allowed")))
		}
		return nil
	})
	t.Run("what the kubelet says of sizes", f.sizes)
	t.Run("a resize that only its record is missing of", f.droppedResize)
	t.Run("what was thrown together for real", f.realCut)
	t.Run("somebody who seems to keep the annotations", f.owners)
	t.Run("a pod that comes with a record", f.creation)
	t.Run("an entry that nobody is named in", f.nobody)
}

const refusedStatus = "are changed by the node's kubelet alone"

func (f *forgery) status(t *testing.T, client kubernetes.Interface, pod *corev1.Pod, body string) error {
	t.Helper()
	_, err := client.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.StrategicMergePatchType, []byte(`{"status":`+body+`}`), metav1.PatchOptions{}, "status")
	return err
}

func (f *forgery) sizes(t *testing.T) {
	const (
		infeasible = `{"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}]}`
		inProgress = `{"conditions":[{"type":"PodResizeInProgress","status":"True"}]}`
		cleared    = `{"conditions":[{"$patch":"delete","type":"PodResizePending"},{"$patch":"delete","type":"PodResizeInProgress"}]}`
	)
	podLevel := refusedStatus
	if f.version.LessThan(version.MajorMinor(1, 36)) {
		podLevel = "" // That API server drops it.
	}
	for _, tc := range []struct{ name, before, body, refused string }{
		{"a resize is called infeasible", "", infeasible, refusedStatus},
		{"a resize is called in progress", "", inProgress, refusedStatus},
		{"an infeasible resize is called done", infeasible, cleared, refusedStatus},
		{"a resize in progress is called done", inProgress, cleared, refusedStatus},
		{"a container is said to be allocated more", "", `{"containerStatuses":[{"name":"app","allocatedResources":{"cpu":"7"}}]}`, refusedStatus},
		{"a container is said to have more", "", `{"containerStatuses":[{"name":"app","resources":{"requests":{"cpu":"7"}}}]}`, refusedStatus},
		{"a sidecar is said to have more", "", `{"initContainerStatuses":[{"name":"side","resources":{"requests":{"cpu":"7"}}}]}`, refusedStatus},
		{"a container is said to have nothing", "", `{"containerStatuses":null}`, refusedStatus},
		{"the pod is said to have more", "", `{"resources":{"requests":{"cpu":"7"}}}`, podLevel},
		{"the pod is said to be allocated more", "", `{"allocatedResources":{"cpu":"7"}}`, podLevel},
		{"a readiness gate", "", `{"conditions":[{"type":"example.com/gate","status":"True"}]}`, ""},
		{"a readiness gate while a resize waits", infeasible, `{"conditions":[{"type":"example.com/gate","status":"True"}]}`, ""},
		{"a pod fails", "", `{"phase":"Failed","message":"its node is gone"}`, ""},
		{"a pod's address", "", `{"podIP":"10.0.0.7","podIPs":[{"ip":"10.0.0.7"}]}`, ""},
		{"a container restarts", "", `{"containerStatuses":[{"name":"app","restartCount":1,"resources":{"requests":{"cpu":"1000m"}}}]}`, ""},
	} {
		pod := f.sized(t)
		if tc.before != "" {
			expect(t, "before "+tc.name, f.status(t, f.kubelet, pod, tc.before), "")
		}
		expect(t, tc.name, f.status(t, f.meddler, pod, tc.body), tc.refused)
		expect(t, tc.name+", by its node", f.status(t, f.kubelet, pod, tc.body), "")
	}
	expect(t, "who may resize pods writes sizes", f.status(t, f.resizer, f.sized(t), infeasible), "")
}

// nobody has an entry without a manager, as of a client without a User-Agent.
func (f *forgery) nobody(t *testing.T) {
	pod := f.sized(t)
	entry := resizeBy("")
	entry.Subresource = "" // As of a creator: it owns the requests.
	body := recording(append(pod.ManagedFields, entry))
	if err := patchPod(t.Context(), f.server, pod, body, contract.FieldManager); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, m := range f.get(t, pod).ManagedFields {
		found = found || m.Manager == ""
	}
	if !found {
		t.Fatal("the API server has dropped the entry")
	}
	expect(t, "the kubelet's status", f.status(t, f.kubelet, pod, `{"phase":"Running","message":"well"}`), "")
	expect(t, "a label", patchPod(t.Context(), f.meddler, pod, `{"metadata":{"labels":{"a":"b"}}}`, ""), "")
}
