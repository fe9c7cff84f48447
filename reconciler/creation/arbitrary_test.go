package creation

import (
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// quantities are amounts that authors may write, some of which the API server rejects.
var quantities = []string{
	"0", "1", "1m", "100u", "1500u", "1001", "999m", "1e3", "1.1", "1.1Gi", "400m", "1Gi", "1Ki", "3M", "1073741825", "9E", "100Ei", "-1", "2n", "0.0005", "64", "2500000000",
}

// TestArbitraryPods sizes pods that nobody has validated: it never panics, changes nothing but amounts of containers and its own
// annotations, and never makes a container valid or invalid that was not, nor changes the QoS class.
func TestArbitraryPods(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	s := sizer(t)
	list := func() corev1.ResourceList {
		if random.IntN(4) == 0 {
			return nil
		}
		r := corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "example.com/gpu"} {
			if random.IntN(4) > 0 {
				r[name] = resource.MustParse(quantities[random.IntN(len(quantities))])
			}
		}
		return r
	}
	names := []string{"app", "proxy", "", "app", "a; b 0 cpu 1", "ü", strings.Repeat("x", 63)}
	always := corev1.ContainerRestartPolicyAlways
	sized := 0
	for range 4000 {
		p := asked(selects("n4"))
		p.Spec.Containers = nil
		for range random.IntN(4) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: names[random.IntN(len(names))], Resources: corev1.ResourceRequirements{Requests: list(), Limits: list()}})
		}
		for range random.IntN(3) {
			c := corev1.Container{Name: names[random.IntN(len(names))], Resources: corev1.ResourceRequirements{Requests: list(), Limits: list()}}
			if random.IntN(2) == 0 {
				c.RestartPolicy = &always
			}
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
		s.Planner.Sidecars = random.IntN(2) == 0
		before := p.DeepCopy()
		got := s.Size(p, "shop", "")
		if !apiequality.Semantic.DeepEqual(p, before) {
			t.Fatalf("the pod that was asked for was changed: %+v", p.Spec)
		}
		if got.Pod == nil {
			continue
		}
		sized++
		if a, b := shape(before), shape(got.Pod); a != b {
			t.Fatalf("%s\nbecame %s\nfrom %+v\nto %+v", a, b, before.Spec, got.Pod.Spec)
		}
		again := s.Size(got.Pod, "shop", "")
		if again.Pod != nil {
			t.Fatalf("a further call changes it: %+v\n%+v\n%v", got.Pod.Spec, again.Pod.Spec, again.Pod.Annotations)
		}
		unsized := got.Pod.DeepCopy()
		unsized.Spec.NodeSelector = nil
		back := s.Size(unsized, "shop", "").Pod
		back.Spec.NodeSelector = before.Spec.NodeSelector
		for key := range back.Annotations {
			if !contract.IsOriginal(key) {
				t.Fatalf("%s stays", key)
			}
		}
		back.Annotations = nil
		for i := range back.Spec.Containers {
			if a, b := sizing.FromResources(before.Spec.Containers[i].Resources), sizing.FromResources(back.Spec.Containers[i].Resources); a != b {
				t.Fatalf("%+v came back as %+v", before.Spec, back.Spec)
			}
		}
	}
	if sized < 100 {
		t.Errorf("only %d pods were sized", sized)
	}
}

// shape describes what sizes must not change: which amounts a container has, how requests compare with limits, all else.
func shape(p *corev1.Pod) string {
	var b strings.Builder
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for _, c := range list {
			b.WriteString("[" + c.Name)
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, requested := c.Resources.Requests[name]
				limit, limited := c.Resources.Limits[name]
				if requested {
					b.WriteString(" r" + string(rune('1'+request.Sign())))
				}
				if limited {
					b.WriteString(" l" + string(rune('1'+limit.Sign())))
				}
				if requested && limited {
					b.WriteString(" c" + string(rune('1'+request.Cmp(limit))))
				}
			}
			gpu, gpus := c.Resources.Requests["example.com/gpu"], c.Resources.Limits["example.com/gpu"]
			b.WriteString(" " + gpu.String() + "/" + gpus.String() + "]")
		}
	}
	return b.String()
}
