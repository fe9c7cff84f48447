package clustertest

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// Named sets the namespace, the name and the node of a pod.
func Named(namespace, name, node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Namespace, p.Name, p.Spec.NodeName = namespace, name, node
		p.UID = types.UID(namespace + "/" + name)
	}
}

// Node returns a node of a type with this much cpu, and more memory than the test pods
// request.
func Node(name, nodeType, cpu string) *corev1.Node {
	n := podtest.Node(nodeType)
	n.Name = name
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("64Gi")}
	return n
}

// Shop returns a small cluster: node a is an n2d, node b an n4.
func Shop(t testing.TB) *cluster.Cluster {
	t.Helper()
	one := podtest.Amounts{"1", "", "1Gi", ""}
	labelled := func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web", "pod-template-hash": "1"} }
	ofDeployment := func(p *corev1.Pod) { p.OwnerReferences[0].Name = "web-1" }
	return Of(t, []*corev1.Pod{
		podtest.Pod(one, Named("shop", "web-1-y", "b"), labelled, ofDeployment),
		podtest.Pod(one, Named("shop", "web-1-x", "a"), labelled, ofDeployment),
		podtest.Pod(one, Named("shop", "db", "b")),
		podtest.Pod(one, Named("bank", "db", "b")),
		podtest.Pod(one, Named("bank", "pending", "")),
	}, []*corev1.Node{Node("a", "n2d", "8"), Node("b", "n4", "8")})
}

// Thousands returns a cluster with pods of typical size that were resized, 20 for each
// Deployment, in this many namespaces.
func Thousands(b testing.TB, pods, namespaces int, nodes ...*corev1.Node) *cluster.Cluster {
	b.Helper()
	return Of(b, Many(b, pods, namespaces), nodes)
}

// Many returns the pods of Thousands.
func Many(b testing.TB, pods, namespaces int) []*corev1.Pod {
	b.Helper()
	typical := podtest.Typical(b)
	all := make([]*corev1.Pod, pods)
	for i := range all {
		p := typical.DeepCopy()
		Named(fmt.Sprint("team-", i/20%namespaces), fmt.Sprintf("checkout-66fb46dc94-%05x", i), fmt.Sprint("node-", i%200))(p)
		podtest.OwnedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i/20))
		all[i] = p
	}
	return all
}
