package pod

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

var guaranteed = podtest.Amounts{"1", "1", "1Gi", "1Gi"}

func TestFrom(t *testing.T) {
	t.Run("returns the labels and annotations of the pod", returnsTheLabelsAndAnnotationsOfThePod)
	t.Run("leaves out the reconciler's annotations", leavesOutTheReconcilersAnnotations)
	t.Run("makes strings valid UTF-8", makesStringsValidUTF8)
	t.Run("trusts no record with too many entries", trustsNoRecordWithTooManyEntries)
	t.Run("shares long values", sharesLongValues)
	t.Run("reads the kubelet's status", readsTheKubeletsStatus)
	t.Run("combines status and spec", combinesStatusAndSpec)
}

func returnsTheLabelsAndAnnotationsOfThePod(t *testing.T) {
	longest := strings.Repeat("k", 253) + "/" + strings.Repeat("n", 63)
	for name, object := range map[string]metav1.ObjectMeta{
		"nothing":                      {},
		"labels and annotations":       {Labels: map[string]string{"a": "1", "b": ""}, Annotations: map[string]string{"a": "2", "c": "x\x00y"}},
		"long keys and values":         {Labels: map[string]string{longest: "v"}, Annotations: map[string]string{"a": strings.Repeat("v", longText), longest: strings.Repeat("v", longText-1), "z": strings.Repeat("w", 2*longText)}},
		"a controller with a long uid": {ResourceVersion: "7", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Cluster", Name: "db", UID: types.UID(strings.Repeat("u", 2*longText)), Controller: new(true)}}, Labels: map[string]string{"a": "1"}},
		"values of various lengths":    {OwnerReferences: []metav1.OwnerReference{{APIVersion: "postgresql.cnpg.io/v1", Kind: "Cluster", Name: strings.Repeat("n", 127), UID: types.UID(strings.Repeat("u", 20_000)), Controller: new(true)}}, Labels: map[string]string{"a": strings.Repeat("v", 126), "b": strings.Repeat("v", 127), "c": strings.Repeat("v", 128), "d": "w"}},
		"an owner, no controller":      {OwnerReferences: []metav1.OwnerReference{{Kind: "Cluster", Name: "db", UID: "u"}}},
		"user annotations with prefix": {Annotations: map[string]string{contract.Skip: "true", contract.Prefix + "other": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := From(&corev1.Pod{ObjectMeta: object})
			if got := maps.Collect(p.Labels().All()); !maps.Equal(got, object.Labels) {
				t.Errorf("labels %v, want %v", got, object.Labels)
			}
			if got := maps.Collect(p.Annotations().All()); !maps.Equal(got, object.Annotations) {
				t.Errorf("annotations %v, want %v", got, object.Annotations)
			}
			for key, value := range object.Annotations {
				if got, ok := p.Annotations().Lookup(key); !ok || got != value {
					t.Errorf("annotation %.20s is %.20q, %v", key, got, ok)
				}
			}
			if p.Annotations().Has("none") || p.Labels().Get("none") != "" {
				t.Error("it has a missing key")
			}
			want := Controller{}
			if owner := metav1.GetControllerOf(&object); owner != nil {
				want = Controller{schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind(), owner.Name, owner.UID}
			}
			if got := p.Controller(); got != want || got.Exists() != (want != Controller{}) || p.ResourceVersion() != object.ResourceVersion {
				t.Errorf("controller %v at %q, want %v", got, p.ResourceVersion(), want)
			}
		})
	}
}

func leavesOutTheReconcilersAnnotations(t *testing.T) {
	p := From(podtest.Pod(guaranteed, podtest.AsResized, podtest.Annotated("original-cpu.app", "2", "applied-instance-type", "n4", "applied-at", "2026-11-21T01:00:00+01:00", "skip", "true")))
	if got := maps.Collect(p.Annotations().All()); len(got) != 1 || got[contract.Skip] != "true" {
		t.Errorf("annotations %v", got)
	}
	nodeType, ok := p.Applied()
	if !ok || nodeType != "n4" || !p.AppliedAt().Equal(podtest.Start) || !p.Sized() || !p.Marked() || p.OnlyOriginals() {
		t.Errorf("sized for %q at %v", nodeType, p.AppliedAt())
	}
	if c := p.Containers[0]; !c.Annotated() || !c.Resized() || c.Original.CPU.Request != 2000 {
		t.Errorf("%+v", c)
	}
}

func makesStringsValidUTF8(t *testing.T) {
	p := From(podtest.Pod(guaranteed, podtest.Annotated("applied-instance-type", "n4\xff"), func(p *corev1.Pod) {
		p.Labels = map[string]string{"a": "\xfe"}
		p.OwnerReferences[0].Name, p.OwnerReferences[0].Kind = "rs\xff", "Set\xff"
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Message: strings.Repeat("é", 2000)}}
	}))
	nodeType, _ := p.Applied()
	for _, text := range []string{nodeType, p.Labels().Get("a"), p.Controller().Name, p.Controller().Kind, p.Conditions()[0].Message} {
		if !utf8.ValidString(text) || text == "" || len(text) > mostMessage+len("…")+2 {
			t.Errorf("%q", text)
		}
	}
}

func trustsNoRecordWithTooManyEntries(t *testing.T) {
	for entries, want := range map[int]setter{mostEntries: author, mostEntries + 1: unknown, 2 * mostEntries: unknown} {
		p := podtest.Pod(guaranteed, podtest.ManagedBy(podtest.AsMade))
		for i := range entries - 1 {
			m := podtest.ResizeBy(fmt.Sprint("manager-", i), i, contract.CPURequest)
			m.Operation = metav1.ManagedFieldsOperationApply
			p.ManagedFields = append(p.ManagedFields, m)
		}
		h := historyOf(p)
		if by, _ := h.setterOf(0, contract.CPURequest); by != want || len(h.entries) > mostEntries || h.cut != (want == unknown) {
			t.Errorf("with %d entries, set by %v: %+v", entries, by, h)
		}
	}
}

func sharesLongValues(t *testing.T) {
	for _, tc := range []struct {
		name   string
		length int
		want   bool
	}{
		{"does not share a short value", longText - 1, false},
		{"shares the shortest long value", longText, true},
		{"shares a longer value", 2 * longText, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			value := func() string {
				p := podtest.Pod(guaranteed, func(p *corev1.Pod) { p.Annotations = map[string]string{"a": strings.Repeat("v", tc.length)} })
				return From(p).Annotations().Get("a")
			}
			if a, b := value(), value(); (unsafe.StringData(a) == unsafe.StringData(b)) != tc.want || a != b {
				t.Errorf("two pods share the value: %t", !tc.want)
			}
		})
	}
}

// The status is stored separately only if it differs from the spec.
func readsTheKubeletsStatus(t *testing.T) {
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi")}
	}
	memory := sizing.Amount{Request: 1 << 30, Limit: 1 << 30}
	size := func(cpu int64) sizing.Container {
		return sizing.Container{CPU: sizing.Amount{Request: cpu, Limit: cpu}, Memory: memory}
	}
	same := corev1.ResourceRequirements{Requests: list("1"), Limits: list("1")}
	less := corev1.ResourceRequirements{Requests: list("500m"), Limits: list("500m")}
	for _, tc := range []struct {
		name               string
		status             *corev1.ContainerStatus
		told               bool
		running, allocated sizing.Container
		heldCPU            int64
		// apart means that the status is stored separately.
		apart bool
	}{
		{"no status", nil, false, sizing.Container{}, size(1000), 0, false},
		{"a status without resources", &corev1.ContainerStatus{Name: "app"}, false, sizing.Container{}, size(1000), 0, false},
		{"the sizes of the spec", &corev1.ContainerStatus{Name: "app", Resources: &same, AllocatedResources: list("1")}, true, size(1000), size(1000), 1000, false},
		{"the sizes of the spec, without allocated resources", &corev1.ContainerStatus{Name: "app", Resources: &same}, true, size(1000), size(1000), 1000, false},
		{"smaller sizes", &corev1.ContainerStatus{Name: "app", Resources: &less, AllocatedResources: list("500m")}, true, size(500), size(500), 500, true},
		{"smaller sizes, without allocated resources", &corev1.ContainerStatus{Name: "app", Resources: &less}, true, size(500), size(500), 500, true},
		{"smaller sizes, with more allocated", &corev1.ContainerStatus{Name: "app", Resources: &less, AllocatedResources: list("2")}, true, size(500),
			sizing.Container{CPU: sizing.Amount{Request: 2000, Limit: 500}, Memory: memory}, 2000, true},
		{"an empty list of resources", &corev1.ContainerStatus{Name: "app", Resources: &corev1.ResourceRequirements{}, AllocatedResources: list("1")}, true, sizing.Container{}, size(1000), 1000, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			object := podtest.Pod(guaranteed)
			if tc.status != nil {
				object.Status.ContainerStatuses = []corev1.ContainerStatus{*tc.status}
			}
			c := &From(object).Containers[0]
			if running, told := c.Running(); running != tc.running || told != tc.told {
				t.Errorf("runs with %v, %v", running, told)
			}
			if got := c.Allocated(); got != tc.allocated {
				t.Errorf("allocated is %v, want %v", got, tc.allocated)
			}
			if cpu, _, told := c.Reserves(); cpu != tc.heldCPU || told != tc.told {
				t.Errorf("reserved are %d, %v", cpu, told)
			}
			if (c.status != nil) != tc.apart {
				t.Errorf("stored separately: %v", c.status)
			}
		})
	}
}

// A resize can neither add nor remove requests or limits.
func combinesStatusAndSpec(t *testing.T) {
	none := podtest.Amounts{}
	for _, tc := range []struct {
		name                 string
		spec, with           podtest.Amounts
		set                  string
		inForce, isAllocated podtest.Amounts
	}{
		{"smaller sizes take precedence over the spec", guaranteed, podtest.Amounts{"500m", "600m", "100Mi", "200Mi"}, "700m", podtest.Amounts{"500m", "600m", "100Mi", "200Mi"}, podtest.Amounts{"700m", "600m", "100Mi", "200Mi"}},
		{"the spec fills in what is not reported", guaranteed, none, "2", guaranteed, podtest.Amounts{"2", "1", "1Gi", "1Gi"}},
		{"amounts that the spec lacks are ignored", none, guaranteed, "2", none, none},
		{"a limit that the spec lacks is ignored", podtest.Amounts{"1", "", "1Gi", ""}, podtest.Amounts{"500m", "2", "1Gi", "3Gi"}, "500m", podtest.Amounts{"500m", "", "1Gi", ""}, podtest.Amounts{"500m", "", "1Gi", ""}},
		{"a request that the spec lacks is ignored", podtest.Amounts{"", "1", "", "1Gi"}, podtest.Amounts{"500m", "2", "1Gi", "3Gi"}, "500m", podtest.Amounts{"", "2", "", "3Gi"}, podtest.Amounts{"", "2", "", "3Gi"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &From(podtest.Pod(tc.spec, runsWith(true, "app", tc.with, tc.set))).Containers[0]
			if got, want := c.InForce(), tc.inForce.Container(); got != want {
				t.Errorf("in effect is %v, want %v", got, want)
			}
			if got, want := c.Allocated(), tc.isAllocated.Container(); got != want {
				t.Errorf("allocated is %v, want %v", got, want)
			}
		})
	}
	if got := From(podtest.Pod(guaranteed)).Containers[0].InForce(); got != guaranteed.Container() {
		t.Errorf("without a status, in effect is %v", got)
	}
}
