package pod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

type changes = []func(*corev1.Pod)

func TestPod(t *testing.T) {
	t.Run("reads the properties of a pod", readsThePropertiesOfAPod)
	t.Run("distinguishes kinds of containers", distinguishesKindsOfContainers)
	t.Run("reports which resources restart a container", reportsWhichResourcesRestartAContainer)
	t.Run("keeps lists that have more than amounts", keepsListsThatHaveMoreThanAmounts)
}

func readsThePropertiesOfAPod(t *testing.T) {
	spec := func(change func(*corev1.PodSpec)) func(*corev1.Pod) { return func(p *corev1.Pod) { change(&p.Spec) } }
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = phase } }
	terminating := func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(podtest.Start)) }
	deadline := func(seconds int64) func(*corev1.Pod) {
		return spec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = &seconds })
	}
	priority := func(priority int32) func(*corev1.Pod) {
		return spec(func(s *corev1.PodSpec) { s.Priority = &priority })
	}
	system := func(name corev1.OSName) func(*corev1.Pod) {
		return spec(func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: name} })
	}
	affinity := func(a corev1.Affinity) func(*corev1.Pod) { return spec(func(s *corev1.PodSpec) { s.Affinity = &a }) }
	zone, elsewhere := corev1.PodAffinityTerm{TopologyKey: "zone"}, corev1.PodAffinityTerm{Namespaces: []string{"other"}}
	selected := corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}
	preferred := func(terms ...corev1.PodAffinityTerm) (all []corev1.WeightedPodAffinityTerm) {
		for _, term := range terms {
			all = append(all, corev1.WeightedPodAffinityTerm{PodAffinityTerm: term})
		}
		return all
	}
	terms := func(terms ...corev1.PodAffinityTerm) []corev1.PodAffinityTerm { return terms }
	statuses := func(all ...corev1.ContainerStatus) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.ContainerStatuses = all }
	}
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	whole := func(r corev1.ResourceRequirements) func(*corev1.Pod) {
		return spec(func(s *corev1.PodSpec) { s.Resources = &r })
	}
	cpu := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}

	for _, rule := range []struct {
		name string
		of   func(*Pod) any
		// is lists pods, the changes that make them, and the expected result.
		is []struct {
			name    string
			changes changes
			want    any
		}
	}{
		{"terminating", func(p *Pod) any { return p.Terminating() }, cases{
			{"not deleted", nil, false}, {"deleted", changes{terminating}, true}}},
		{"finished", func(p *Pod) any { return p.Finished() }, cases{
			{"pending", changes{phase(corev1.PodPending)}, false}, {"running", nil, false},
			{"succeeded", changes{phase(corev1.PodSucceeded)}, true}, {"failed", changes{phase(corev1.PodFailed)}, true}}},
		{"with a deadline", func(p *Pod) any { return p.HasDeadline() }, cases{
			{"none", nil, false}, {"a minute", changes{deadline(60)}, true}, {"zero", changes{deadline(0)}, true}, {"negative", changes{deadline(-1)}, false}}},
		{"critical", func(p *Pod) any { return p.Critical() }, cases{
			{"no priority", nil, false}, {"the highest priority of users", changes{priority(1_999_999_999)}, false},
			{"the lowest system priority", changes{priority(2_000_000_000)}, true}, {"a higher priority", changes{priority(2_000_001_000)}, true}}},
		{"for Windows", func(p *Pod) any { return p.Windows() }, cases{
			{"no OS", nil, false}, {"Linux", changes{system(corev1.Linux)}, false}, {"Windows", changes{system(corev1.Windows)}, true}}},
		{"crossing namespaces", func(p *Pod) any { return p.CrossesNamespaces() }, cases{
			{"no affinity", nil, false},
			{"node affinity", changes{affinity(corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}})}, false},
			{"affinity in its own namespace", changes{affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(zone), PreferredDuringSchedulingIgnoredDuringExecution: preferred(zone)}})}, false},
			{"anti-affinity in its own namespace", changes{affinity(corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(zone)}})}, false},
			{"affinity to another namespace", changes{affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(zone, elsewhere)}})}, true},
			{"affinity to selected namespaces", changes{affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(selected)}})}, true},
			{"preferred affinity to another namespace", changes{affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred(zone, elsewhere)}})}, true},
			{"anti-affinity to another namespace", changes{affinity(corev1.Affinity{PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms(elsewhere)}})}, true}}},
		{"whose kubelet does not report resources", func(p *Pod) any { return p.NotReported() }, cases{
			{"no running container", changes{statuses(corev1.ContainerStatus{Name: "app"})}, ""},
			{"a container with resources", changes{statuses(corev1.ContainerStatus{Name: "app", State: runs, Resources: &corev1.ResourceRequirements{}})}, ""},
			{"a container without resources", changes{statuses(corev1.ContainerStatus{Name: "app", State: runs})}, "app"},
			{"only the first running container counts", changes{statuses(corev1.ContainerStatus{Name: "done"}, corev1.ContainerStatus{Name: "app", State: runs, Resources: &corev1.ResourceRequirements{}}, corev1.ContainerStatus{Name: "second", State: runs})}, ""},
			{"the first of several containers without resources", changes{statuses(corev1.ContainerStatus{Name: "done"}, corev1.ContainerStatus{Name: "app", State: runs}, corev1.ContainerStatus{Name: "second", State: runs})}, "app"}}},
		{"with pod-level resources", func(p *Pod) any { return p.Whole() }, cases{
			{"none", nil, (*Whole)(nil)},
			{"empty", changes{whole(corev1.ResourceRequirements{})}, &Whole{}},
			{"requests", changes{whole(corev1.ResourceRequirements{Requests: cpu})}, &Whole{sizing.Container{CPU: sizing.Amount{Request: 2000}}, true}},
			{"limits", changes{whole(corev1.ResourceRequirements{Limits: cpu})}, &Whole{sizing.Container{CPU: sizing.Amount{Limit: 2000}}, true}},
			{"both", changes{whole(corev1.ResourceRequirements{Requests: cpu, Limits: cpu})}, &Whole{sizing.Container{CPU: sizing.Amount{Request: 2000, Limit: 2000}}, true}},
			{"another resource", changes{whole(corev1.ResourceRequirements{Requests: corev1.ResourceList{"hugepages-2Mi": resource.MustParse("2Mi")}})}, &Whole{Asks: true}}}},
		{"sized by us", func(p *Pod) any { return p.Sized() }, cases{
			{"as created", changes{podtest.AsCreated}, false},
			{"with an applied node type", changes{podtest.Annotated("applied-instance-type", "n4")}, true},
			{"resized, with an original", changes{podtest.AsResized, podtest.Annotated("original-cpu.app", "1")}, true},
			{"resized, without annotations", changes{podtest.AsResized}, false},
			{"not resized, with an original", changes{podtest.AsCreated, podtest.Annotated("original-cpu.app", "1")}, false}}},
		{"marked by us", func(p *Pod) any { return [2]bool{p.Marked(), p.OnlyOriginals()} }, cases{
			{"other annotations", changes{func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} }}, [2]bool{false, true}},
			{"only originals", changes{podtest.Annotated("original-cpu.app", "1", "skip", "true")}, [2]bool{true, true}},
			{"more than originals", changes{podtest.Annotated("original-cpu.app", "1", "applied-at", "x")}, [2]bool{true, false}}}},
	} {
		for _, tc := range rule.is {
			t.Run(rule.name+"/"+tc.name, func(t *testing.T) {
				if diff := cmp.Diff(tc.want, rule.of(From(podtest.Pod(guaranteed, tc.changes...)))); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

type cases = []struct {
	name    string
	changes changes
	want    any
}

func distinguishesKindsOfContainers(t *testing.T) {
	always, never := corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicy("Never")
	p := From(podtest.Pod(guaranteed, podtest.Annotated("original-cpu.second", "1", "original-memory.proxy", "1Gi"), func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second"})
		p.Spec.InitContainers = []corev1.Container{{Name: "init"}, {Name: "proxy", RestartPolicy: &always, Resources: guaranteed.Requirements()}, {Name: "last", RestartPolicy: &never, Resources: guaranteed.Requirements()}}
	}))
	type container struct {
		name                                 string
		init, sidecar, annotated, isOriginal bool
	}
	var got []container
	for i := range p.Containers {
		c := &p.Containers[i]
		got = append(got, container{c.Name(), c.Init(), c.Sidecar(), c.Annotated(), c.Original.CPU.Request == 1000})
	}
	want := []container{
		{"app", false, false, false, true}, {"second", false, false, true, false},
		{"init", true, false, false, false}, {"proxy", true, true, true, true}, {"last", true, false, false, false},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(container{})); diff != "" {
		t.Error(diff)
	}
}

func reportsWhichResourcesRestartAContainer(t *testing.T) {
	policy := func(name corev1.ResourceName, restart corev1.ResourceResizeRestartPolicy) corev1.ContainerResizePolicy {
		return corev1.ContainerResizePolicy{ResourceName: name, RestartPolicy: restart}
	}
	for _, tc := range []struct {
		name        string
		policies    []corev1.ContainerResizePolicy
		cpu, memory bool
	}{
		{"neither", nil, false, false},
		{"neither, explicitly", []corev1.ContainerResizePolicy{policy("cpu", corev1.NotRequired), policy("memory", corev1.NotRequired)}, false, false},
		{"cpu", []corev1.ContainerResizePolicy{policy("memory", corev1.NotRequired), policy("cpu", corev1.RestartContainer)}, true, false},
		{"memory", []corev1.ContainerResizePolicy{policy("cpu", corev1.NotRequired), policy("memory", corev1.RestartContainer)}, false, true},
		{"both", []corev1.ContainerResizePolicy{policy("cpu", corev1.RestartContainer), policy("memory", corev1.RestartContainer)}, true, true},
		{"both, in the other order", []corev1.ContainerResizePolicy{policy("memory", corev1.RestartContainer), policy("cpu", corev1.RestartContainer)}, true, true},
		{"another resource", []corev1.ContainerResizePolicy{policy("disk", corev1.RestartContainer)}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			says := func(p *corev1.Pod) { p.Spec.Containers[0].ResizePolicy = tc.policies }
			for name, changes := range map[string]changes{
				"as created": {says}, "running": {says, runsWith(true, "app", guaranteed, "1")}, "resized": {says, podtest.AsResized},
			} {
				if c := &From(podtest.Pod(guaranteed, changes...)).Containers[0]; c.Restarts(sizing.CPU) != tc.cpu || c.Restarts(sizing.Memory) != tc.memory {
					t.Errorf("%s: cpu %t, memory %t", name, c.Restarts(sizing.CPU), c.Restarts(sizing.Memory))
				}
			}
		})
	}
}

func keepsListsThatHaveMoreThanAmounts(t *testing.T) {
	list := func(pairs ...string) corev1.ResourceList {
		l := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return l
	}
	for _, tc := range []struct {
		name             string
		requests, limits corev1.ResourceList
		kept             bool
	}{
		{"nothing", nil, nil, false},
		{"cpu and memory", list("cpu", "1", "memory", "1Gi"), list("cpu", "2", "memory", "2Gi"), false},
		{"one of them", list("memory", "1Gi"), list("cpu", "2"), false},
		{"a request of zero", list("cpu", "0", "memory", "1Gi"), nil, true},
		{"a limit of zero", nil, list("memory", "0"), true},
		{"a request of another resource", list("cpu", "1", "disk", "1Gi"), list("cpu", "2"), true},
		{"a limit of another resource", list("cpu", "1"), list("cpu", "2", "memory", "1Gi", "disk", "1Gi"), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			object := podtest.Pod(guaranteed)
			object.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: tc.requests, Limits: tc.limits}
			c := &From(object).Containers[0]
			if (c.Requests() != nil) != tc.kept || (c.Limits() != nil) != tc.kept {
				t.Fatalf("requests %v, limits %v", c.Requests(), c.Limits())
			}
			if tc.kept && (len(c.Requests()) != len(tc.requests) || len(c.Limits()) != len(tc.limits)) {
				t.Errorf("requests %v, limits %v, want %v, %v", c.Requests(), c.Limits(), tc.requests, tc.limits)
			}
		})
	}
}

func TestCutShort(t *testing.T) {
	for _, tc := range []struct {
		name string
		// deleted is when its deletion is due, after this grace period, and ended when its container ended.
		deleted, ended int
		grace          *int64
		want           bool
	}{
		{"not deleted", 0, 100, nil, false},
		{"deleted after it ended", 200, 100, new(int64(0)), false},
		{"deleted in the second in which it ended", 100, 100, new(int64(0)), false},
		{"deleted while it ran", 130, 110, new(int64(30)), true},
		{"ended in the second in which its deletion was requested", 130, 100, new(int64(30)), true},
		{"deleted while it ran, before its status was known", 130, 90, new(int64(30)), false},
		{"deleted while it ran, and held by a finalizer since", 100, 110, new(int64(0)), true},
		{"without a grace period", 100, 110, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(podtest.Guaranteed)
			if tc.deleted != 0 {
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(podtest.At(tc.deleted))), tc.grace
			}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(podtest.At(tc.ended))}}}}
			if got := From(p).CutShort(); got != tc.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
