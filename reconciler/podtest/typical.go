package podtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// sample returns the manifest of a pod of typical size. The binary of a test does not know the path of its source, but
// tests run in the folder of their package.
func sample() (content []byte, err error) {
	const manifest = "test/bench/pod.yaml"
	for up := "."; ; up = filepath.Join(up, "..") {
		if content, err = os.ReadFile(filepath.Join(up, manifest)); err == nil {
			return content, nil
		}
		if _, last := os.Stat(filepath.Join(up, "go.mod")); last == nil {
			return nil, err
		}
	}
}

// HeapInUse returns how many bytes of heap are in use.
func HeapInUse() float64 {
	for range 3 { // Memory that cleanups release in one cycle is freed by the next.
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// CPUTime returns how long the process has run on a core. Other work on the machine affects it less than the
// elapsed time.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Typical returns a running pod of typical size that was resized.
func Typical(t testing.TB) *corev1.Pod {
	t.Helper()
	content, err := sample()
	p := &corev1.Pod{}
	if err == nil {
		err = yaml.UnmarshalStrict(content, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Namespace, p.Generation = "shop", 2
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, ObservedGeneration: 2}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, AllocatedResources: c.Resources.Requests, Resources: &c.Resources,
		})
	}
	Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi",
		"original-cpu.proxy", "250m", "original-cpu-limit.proxy", "500m", "original-memory.proxy", "128Mi", "original-memory-limit.proxy", "256Mi",
		"applied-instance-type", "n4")(p)
	p.Annotations[contract.AppliedAt] = At(11).Format(time.RFC3339)
	p.Annotations[contract.AppliedSizes] = "app 0 cpu 1/2>800m/1600m memory 1Gi/2Gi; proxy 0 cpu 250m/500m>200m/400m memory 128Mi/256Mi"
	ResizedByUs(p)
	return p
}

// ResizedByUs adds the managedFields of our resize of the first two containers.
func ResizedByUs(p *corev1.Pod) {
	ManagedBy(AsMade, ResizeOf(10, p.Spec.Containers[0].Name, p.Spec.Containers[1].Name), Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix))(p)
}

// OwnedBy gives the pod another controller.
func OwnedBy(p *corev1.Pod, kind, name string) {
	owner := &p.OwnerReferences[0]
	owner.Kind, owner.Name = kind, name
	owner.UID = types.UID(fmt.Sprintf("%-36s", name)) // As long as a real uid.
	if kind == "ReplicaSet" {
		p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = name[len("checkout-"):]
	} else {
		delete(p.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	}
}

// Asks gives the pod amounts that are unique to the number n.
func Asks(p *corev1.Pod, n int) {
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

// Alone makes the pod the only pod of the i-th Deployment.
func Alone(p *corev1.Pod, i int) {
	OwnedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%07x", i))
	p.Labels["app.kubernetes.io/name"], p.Labels["app.kubernetes.io/instance"] = fmt.Sprint("checkout-", i), fmt.Sprint("checkout-production-", i)
	p.Annotations["checksum/config"] = fmt.Sprintf("%064x", i)
}
