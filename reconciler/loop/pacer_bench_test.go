package loop

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// BenchmarkPacer measures the turn of one pod among 150,000 waiting pods.
func BenchmarkPacer(b *testing.B) {
	const waiting = 150_000
	clock := testingclock.NewFakeClock(podtest.Start)
	p := newPacer(steadily(20), nil, 16, clock)
	pods := make([]types.NamespacedName, waiting)
	for i := range pods {
		pods[i] = types.NamespacedName{Namespace: "bench", Name: fmt.Sprintf("pod-%d", i)}
		p.mayGo(pods[i], need{wrong: float64(i * 7919 % waiting)})
	}
	b.ReportAllocs()
	for b.Loop() {
		clock.Step(p.pause)
		pod, _ := p.next()
		p.take(pod)
		p.mayGo(pod, need{wrong: 1})
		p.used(pod, nil)
		p.release(pod)
		p.mayGo(pod, need{wrong: 1}) // It waits again.
	}
}
