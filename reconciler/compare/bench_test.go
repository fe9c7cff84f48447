package compare

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// BenchmarkHour measures an hour of a cluster with 150,000 containers on 5,000 nodes, in workloads of 15: a sample of each per minute, and the
// fold at its end. Finding the workload of a pod is not part of it.
func BenchmarkHour(b *testing.B) {
	const containers, nodes, size = 150_000, 5_000, 15
	pods, workloads := make([]*pod.Pod, containers), map[types.UID]evidence.Key{}
	at := metav1.NewTime(began.Add(-24 * time.Hour))
	for i := range pods {
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, func(p *corev1.Pod) {
			p.Name, p.UID, p.Spec.NodeName = fmt.Sprint("web-", i), types.UID(fmt.Sprintf("%08x-6a3c-4d1b-9f0e-5b8f6a1c2d3e", i)), fmt.Sprint("node-", i*7%nodes)
			p.Labels = map[string]string{"pod-template-hash": "1"}
			p.CreationTimestamp, p.Status.StartTime = at, &at
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", Ready: true}}
		})
		pods[i] = pod.From(p)
		workloads[pods[i].UID] = KeyOf("shop", "Deployment", fmt.Sprint(i/size))
	}
	in := Cluster{
		Pods:       pods,
		WorkloadOf: func(p *pod.Pod) (evidence.Key, bool) { return workloads[p.UID], true },
		WorkOf:     func(*pod.Pod, int64) Work { return Work{} },
		PlaceOf: func(node string) (Place, bool) {
			i := node[len(node)-1] - '0'
			return Place{NodeType: fmt.Sprint("type-", i%4), Zone: fmt.Sprint("zone-", i%3), CPUModel: "milan", CPUs: 64}, true
		},
	}
	before := podtest.HeapInUse()
	c, now, random := New(time.Minute), began, rand.New(rand.NewPCG(1, 2))
	var taking, folding time.Duration // of CPU: other processes may run.
	minute := func() {
		now = now.Add(time.Minute)
		begin := podtest.CPUTime(b)
		for _, p := range pods {
			c.Take(p, "app", &Sample{At: now, Length: time.Minute, Cores: 0.5 + random.Float64()/2}, now)
		}
		taken := podtest.CPUTime(b)
		c.Fold(now, func() Cluster { return in })
		taking, folding = taking+taken-begin, folding+podtest.CPUTime(b)-taken
	}
	for range 130 {
		minute()
	}
	taking, folding = 0, 0
	for b.Loop() {
		for range 60 {
			minute()
		}
	}
	hours := float64(b.N)
	b.ReportMetric(taking.Seconds()/hours, "s/hour-taking")
	b.ReportMetric(folding.Seconds()/hours, "s/fold")
	b.ReportMetric((taking+folding).Seconds()/hours/3600, "cores")
	b.ReportMetric((podtest.HeapInUse()-before)/(1<<20), "MiB")
	if e := c.Evidence(); len(e.Workloads) != containers/size || len(c.usages) != containers {
		b.Errorf("%d workloads, %d containers", len(e.Workloads), len(c.usages))
	}
	b.ReportMetric(float64(len(c.Pack(func(uint64) bool { return true })))/(1<<20), "MiB-stored")
	runtime.KeepAlive(c)
	runtime.KeepAlive(pods)
}
