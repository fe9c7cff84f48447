package reconciler

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// kindsOfPods are pods by what makes them: which is the i-th of its kind.
var kindsOfPods = []struct {
	name string
	be   func(p *corev1.Pod, i int)
}{
	{"20 of a Deployment", func(p *corev1.Pod, i int) { ownedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i/20)) }},
	{"20 of a Deployment with their addresses in annotations", func(p *corev1.Pod, i int) {
		ownedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i/20))
		p.Annotations["cni.projectcalico.org/podIP"] = fmt.Sprintf("10.%d.%d.%d/32", i>>16, i>>8&255, i&255)
	}},
	{"20 of a Deployment with amounts of its own", func(p *corev1.Pod, i int) {
		ownedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i/20))
		asks(p, i/20)
	}},
	{"20 of a StatefulSet", func(p *corev1.Pod, i int) {
		ownedBy(p, "StatefulSet", fmt.Sprintf("checkout-%d", i/20))
		p.Labels[appsv1.StatefulSetPodNameLabel], p.Labels[appsv1.PodIndexLabel] = p.Name, fmt.Sprint(i%20)
		p.Labels[appsv1.ControllerRevisionHashLabelKey] = fmt.Sprintf("checkout-%010x", i/20)
	}},
	{"the only one of a Job", func(p *corev1.Pod, i int) {
		ownedBy(p, "Job", fmt.Sprintf("checkout-%08d", i))
		owner := p.OwnerReferences[0]
		p.Labels[batchv1.JobNameLabel], p.Labels[batchv1.ControllerUidLabel] = owner.Name, string(owner.UID)
		p.Labels["job-name"], p.Labels["controller-uid"] = owner.Name, string(owner.UID)
	}},
	{"the only one of a Deployment", alone},
	{"the only one of a Deployment with amounts of its own", func(p *corev1.Pod, i int) {
		alone(p, i)
		asks(p, i)
	}},
	{"the only one of a Deployment with containers named after it", func(p *corev1.Pod, i int) {
		alone(p, i)
		name := fmt.Sprintf("checkout-%d", i)
		for key, value := range maps.Clone(p.Annotations) {
			if before, ok := strings.CutSuffix(key, ".app"); ok {
				delete(p.Annotations, key)
				p.Annotations[before+"."+name] = value
			}
		}
		p.Spec.Containers[0].Name, p.Status.ContainerStatuses[0].Name, p.ManagedFields = name, name, nil
		resizedByUs(p)
	}},
}

// BenchmarkKept tells how many bytes of heap a pod of typical size takes in the
// cache, and what it costs to put it together.
func BenchmarkKept(b *testing.B) {
	for _, kind := range kindsOfPods {
		b.Run(kind.name, func(b *testing.B) {
			const pods = 20_000
			typical, stock := typicalPod(b), newStock()
			index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			before := heapInUse()
			for i := range pods {
				p := typical.DeepCopy()
				p.Name, p.UID, p.ResourceVersion = fmt.Sprintf("checkout-66fb46dc94-%05x", i), uuid.NewUUID(), fmt.Sprint(1_000_000+i)
				p.Spec.NodeName = fmt.Sprint("node-", i%200)
				kind.be(p, i)
				kept, err := stock.trim(decoded(b, p))
				do(b, err)
				do(b, index.Add(kept))
			}
			perPod := (heapInUse() - before) / pods
			all := index.List()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				podOf(all[i%pods])
			}
			b.ReportMetric(perPod, "heap-B/pod") // The loop forgets what was told before.
			runtime.KeepAlive(stock)
		})
	}
}

func heapInUse() float64 {
	for range 3 { // What is cleaned up after one is freed by the next.
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// decoded is the pod as it comes from the API server, sharing nothing.
func decoded(b *testing.B, p *corev1.Pod) *corev1.Pod {
	content, err := p.Marshal()
	do(b, err)
	came := &corev1.Pod{}
	do(b, came.Unmarshal(content))
	return came
}

// typicalPod is a pod of typical size that runs, and was sized.
func typicalPod(b *testing.B) *corev1.Pod {
	content, err := os.ReadFile("../test/bench/pod.yaml")
	do(b, err)
	p := &corev1.Pod{}
	do(b, yaml.UnmarshalStrict(content, p))
	p.Namespace, p.Generation = "shop", 2
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, ObservedGeneration: 2}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, AllocatedResources: c.Resources.Requests, Resources: &c.Resources,
		})
	}
	annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi",
		"original-cpu.proxy", "250m", "original-cpu-limit.proxy", "500m", "original-memory.proxy", "128Mi", "original-memory-limit.proxy", "256Mi",
		"applied-instance-type", "n4")(p)
	p.Annotations[contract.AppliedAt] = "2026-05-04T09:13:02Z"
	resizedByUs(p)
	return p
}

func resizedByUs(p *corev1.Pod) {
	managedBy(asMade, resizeOf(10, p.Spec.Containers[0].Name, p.Spec.Containers[1].Name), managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix))(p)
}

func ownedBy(p *corev1.Pod, kind, name string) {
	owner := &p.OwnerReferences[0]
	owner.Kind, owner.Name = kind, name
	owner.UID = types.UID(fmt.Sprintf("%-36s", name)) // As long as any.
	if kind == "ReplicaSet" {
		p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = name[len("checkout-"):]
	} else {
		delete(p.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	}
}

// asks has the pod ask for amounts that no other number asks for.
func asks(p *corev1.Pod, n int) {
	for i := range p.Spec.Containers {
		c, status := &p.Spec.Containers[i], &p.Status.ContainerStatuses[i]
		for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			cpu, memory := *list.Cpu(), *list.Memory()
			cpu.Add(*resource.NewMilliQuantity(int64(n), resource.DecimalSI))
			memory.Add(*resource.NewQuantity(int64(n)<<20, resource.BinarySI))
			list[corev1.ResourceCPU], list[corev1.ResourceMemory] = cpu, memory
		}
		status.AllocatedResources, status.Resources = c.Resources.Requests, &c.Resources
		for original, amount := range map[contract.Original]*resource.Quantity{
			contract.CPURequest: c.Resources.Requests.Cpu(), contract.MemoryRequest: c.Resources.Requests.Memory(),
			contract.CPULimit: c.Resources.Limits.Cpu(), contract.MemoryLimit: c.Resources.Limits.Memory(),
		} {
			p.Annotations[original.Key(c.Name)] = amount.String()
		}
	}
}

func alone(p *corev1.Pod, i int) {
	ownedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i))
	p.Labels["app.kubernetes.io/name"], p.Labels["app.kubernetes.io/instance"] = fmt.Sprint("checkout-", i), fmt.Sprint("checkout-production-", i)
	p.Annotations["checksum/config"] = fmt.Sprintf("%064x", i)
}
