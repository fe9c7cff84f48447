package deploy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// bystanders are the meddler's permission to create pods, and an account that may resize pods.
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

// forgery has clients besides the meddler that write pods.
type forgery struct {
	*guarded
	kubelet, resizer kubernetes.Interface
}

// testForgeries forges what the server relies on, as a user who may write pods and their statuses but
// not resize pods.
func testForgeries(t *testing.T, g *guarded) {
	f := &forgery{
		guarded: g,
		kubelet: kubernetes.NewForConfigOrDie(localcluster.AsNode(g.config, "node")),
		resizer: as(t, g.config, "default", "resizer"),
	}
	t.Run("refuses forged sizes in statuses", f.sizes)
	t.Run("refuses a record without the last resize", f.droppedResize)
	t.Run("allows the API server to merge entries", f.realCut)
	t.Run("refuses forged owners of annotations", f.owners)
	t.Run("refuses new pods with a forged resize", f.creation)
	t.Run("allows writes to pods with an entry without a manager", f.nobody)
}

const refusedStatus = "only the node's kubelet may change"

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
		podLevel = "" // Older API servers drop these fields.
	}
	for _, tc := range []struct{ name, before, body, refused string }{
		{"report a resize as infeasible", "", infeasible, refusedStatus},
		{"report a resize as in progress", "", inProgress, refusedStatus},
		{"clear an infeasible resize", infeasible, cleared, refusedStatus},
		{"clear a resize in progress", inProgress, cleared, refusedStatus},
		{"report more allocated resources of a container", "", `{"containerStatuses":[{"name":"app","allocatedResources":{"cpu":"7"}}]}`, refusedStatus},
		{"report more resources of a container", "", `{"containerStatuses":[{"name":"app","resources":{"requests":{"cpu":"7"}}}]}`, refusedStatus},
		{"report more resources of a sidecar", "", `{"initContainerStatuses":[{"name":"side","resources":{"requests":{"cpu":"7"}}}]}`, refusedStatus},
		{"report no container statuses", "", `{"containerStatuses":null}`, refusedStatus},
		{"report more resources of the pod", "", `{"resources":{"requests":{"cpu":"7"}}}`, podLevel},
		{"report more allocated resources of the pod", "", `{"allocatedResources":{"cpu":"7"}}`, podLevel},
		{"set a readiness gate", "", `{"conditions":[{"type":"example.com/gate","status":"True"}]}`, ""},
		{"set a readiness gate while a resize is pending", infeasible, `{"conditions":[{"type":"example.com/gate","status":"True"}]}`, ""},
		{"report a failed pod", "", `{"phase":"Failed","message":"its node is gone"}`, ""},
		{"report a pod's address", "", `{"podIP":"10.0.0.7","podIPs":[{"ip":"10.0.0.7"}]}`, ""},
		{"report a restart of a container", "", `{"containerStatuses":[{"name":"app","restartCount":1,"resources":{"requests":{"cpu":"1000m"}}}]}`, ""},
	} {
		pod := f.sized(t)
		if tc.before != "" {
			expect(t, "before "+tc.name, f.status(t, f.kubelet, pod, tc.before), "")
		}
		expect(t, tc.name, f.status(t, f.meddler, pod, tc.body), tc.refused)
		expect(t, tc.name+" as the node's kubelet", f.status(t, f.kubelet, pod, tc.body), "")
	}
	expect(t, "report sizes as a user who may resize pods", f.status(t, f.resizer, f.sized(t), infeasible), "")
}

// nobody adds an entry without a manager, as a client without a User-Agent would.
func (f *forgery) nobody(t *testing.T) {
	pod := f.sized(t)
	entry := resizeBy("")
	entry.Subresource = "" // Like a creator's entry: it owns the requests.
	body := recording(append(pod.ManagedFields, entry))
	if err := patchPod(t.Context(), f.server, pod, body, contract.FieldManager); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, m := range f.get(t, pod).ManagedFields {
		found = found || m.Manager == ""
	}
	if !found {
		t.Fatal("the API server dropped the entry")
	}
	expect(t, "patch the status as the kubelet", f.status(t, f.kubelet, pod, `{"phase":"Running","message":"well"}`), "")
	expect(t, "add a label", patchPod(t.Context(), f.meddler, pod, `{"metadata":{"labels":{"a":"b"}}}`, ""), "")
}
