package cluster

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// BenchmarkSiblings plans a pod of a controller with 5,000 pods on 500 nodes.
func BenchmarkSiblings(b *testing.B) {
	c := known(b)
	var nodes []*corev1.Node
	for n := range 500 {
		node := podtest.Node("n4")
		node.Name = fmt.Sprint("node-", n)
		nodes = append(nodes, node)
	}
	var pods []*pod.Pod
	for n := range 5000 {
		p := podtest.Pod(podtest.Guaranteed, podtest.AsCreated, named("shop", fmt.Sprint("web-", n)))
		p.Spec.NodeName = nodes[n%500].Name
		pods = append(pods, pod.From(p))
	}
	if err := c.Know(pods, nodes); err != nil {
		b.Fatal(err)
	}
	planner := &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds, NodeTypes: nodetype.New("")}
	for b.Loop() {
		s := c.Snapshot(pods[17], Rules{Table: podtest.Table(b)})
		if p := planner.Plan(s); len(p.Claims) != 1 || p.Claims[0].Places != 500 {
			b.Fatalf("claims %v: %v", p.Claims, p.Reasons)
		}
	}
}
