package pod

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// kindsOfPods are kinds of pods by their controller; be makes a pod the i-th of its kind.
var kindsOfPods = []struct {
	name string
	be   func(p *corev1.Pod, i int)
}{
	{"20 of a Deployment", func(p *corev1.Pod, i int) { podtest.OwnedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i/20)) }},
	{"20 of a Deployment with addresses in annotations", func(p *corev1.Pod, i int) {
		podtest.OwnedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i/20))
		p.Annotations["cni.projectcalico.org/podIP"] = fmt.Sprintf("10.%d.%d.%d/32", i>>16, i>>8&255, i&255)
	}},
	{"20 of a Deployment with unique amounts", func(p *corev1.Pod, i int) {
		podtest.OwnedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i/20))
		podtest.Asks(p, i/20)
	}},
	{"20 of a StatefulSet", func(p *corev1.Pod, i int) {
		podtest.OwnedBy(p, "StatefulSet", fmt.Sprintf("checkout-%d", i/20))
		p.Labels[appsv1.StatefulSetPodNameLabel], p.Labels[appsv1.PodIndexLabel] = p.Name, fmt.Sprint(i%20)
		p.Labels[appsv1.ControllerRevisionHashLabelKey] = fmt.Sprintf("checkout-%010x", i/20)
	}},
	{"the only one of a Job", func(p *corev1.Pod, i int) {
		podtest.OwnedBy(p, "Job", fmt.Sprintf("checkout-%08d", i))
		owner := p.OwnerReferences[0]
		p.Labels[batchv1.JobNameLabel], p.Labels[batchv1.ControllerUidLabel] = owner.Name, string(owner.UID)
		p.Labels["job-name"], p.Labels["controller-uid"] = owner.Name, string(owner.UID)
	}},
	{"the only one of a Deployment", podtest.Alone},
	{"the only one of a Deployment with unique amounts", func(p *corev1.Pod, i int) {
		podtest.Alone(p, i)
		podtest.Asks(p, i)
	}},
	{"the only one of a Deployment with containers named after it", func(p *corev1.Pod, i int) {
		podtest.Alone(p, i)
		name := fmt.Sprintf("checkout-%d", i)
		for key, value := range maps.Clone(p.Annotations) {
			if before, ok := strings.CutSuffix(key, ".app"); ok {
				delete(p.Annotations, key)
				p.Annotations[before+"."+name] = value
			}
		}
		p.Spec.Containers[0].Name, p.Status.ContainerStatuses[0].Name, p.ManagedFields = name, name, nil
		podtest.ResizedByUs(p)
	}},
}

// BenchmarkFrom measures how many bytes of heap a pod of typical size takes in the cache,
// and the cost of reading it.
func BenchmarkFrom(b *testing.B) {
	for _, kind := range kindsOfPods {
		b.Run(kind.name, func(b *testing.B) {
			const pods = 20_000
			typical := podtest.Typical(b)
			index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			before := podtest.HeapInUse()
			for i := range pods {
				p := typical.DeepCopy()
				p.Name, p.UID, p.ResourceVersion = fmt.Sprintf("checkout-66fb46dc94-%05x", i), uuid.NewUUID(), fmt.Sprint(1_000_000+i)
				p.Spec.NodeName = fmt.Sprint("node-", i%200)
				kind.be(p, i)
				do(b, index.Add(From(decoded(b, p))))
			}
			perPod := (podtest.HeapInUse() - before) / pods
			came := decoded(b, typical)
			b.ReportAllocs()
			for b.Loop() {
				From(came)
			}
			b.ReportMetric(perPod, "heap-B/pod") // b.Loop discards metrics reported earlier.
			runtime.KeepAlive(index)
		})
	}
}

// decoded returns the pod as decoded from the API server; it shares no memory.
func decoded(b *testing.B, p *corev1.Pod) *corev1.Pod {
	content, err := p.Marshal()
	do(b, err)
	came := &corev1.Pod{}
	do(b, came.Unmarshal(content))
	return came
}

func do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
