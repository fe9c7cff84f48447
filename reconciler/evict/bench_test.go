package evict

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// BenchmarkFits judges where a pod fits in a cluster of 5,000 nodes and 150,000 pods, a tenth of which repel others.
func BenchmarkFits(b *testing.B) {
	const nodes, each = 5_000, 30
	all := make([]*corev1.Node, nodes)
	pods := make([][]*pod.Pod, nodes)
	for i := range all {
		all[i] = machine(fmt.Sprintf("%c-%d", 'a'+i%3, i)).Node
		for k := range each {
			change := []func(*corev1.Pod){labeled("app", fmt.Sprintf("app-%d", i%500))}
			if k%10 == 0 {
				change = append(change, apart(corev1.PodAffinityTerm{LabelSelector: of(fmt.Sprintf("app-%d", i%500)), TopologyKey: hostname}))
			}
			name := fmt.Sprintf("p-%d-%d", i, k)
			pods[i] = append(pods[i], pod.From(web(append(change, func(p *corev1.Pod) { p.Name, p.UID = name, types.UID(name) })...)))
		}
	}
	moving := web(spreading(zone, 1), apart(corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: hostname}))
	for b.Loop() {
		var s Scene
		for i := range all {
			s.Add(all[i], pods[i])
		}
		if fits, why := s.Fits(moving, amounts("1", "1Gi")); len(fits) == 0 {
			b.Fatal(why)
		}
	}
}
