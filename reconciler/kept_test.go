package reconciler

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// many is a pod with all that is kept for each pod.
func many(name, at string) *corev1.Pod {
	return trimPod(pod(guaranteed, named("shop", name, "n4-"+name), func(p *corev1.Pod) {
		p.ResourceVersion, p.Generation = "7"+name, 3
		p.Annotations = map[string]string{contract.AppliedAt: at, contract.AppliedInstanceType: "n4", "a": "b"}
		when := metav1.NewTime(time.Unix(1_700_000_000, 0))
		p.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "creator", Time: &when, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:restartPolicy":{}}}`)},
			{Manager: "untimed", Subresource: "resize", FieldsV1: metav1.NewFieldsV1(`{}`)},
		}
	}))
}

func TestAKeptPodIsThePodThatCame(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
	}{
		{"with all that is kept for each", many("a", "2026-01-02T03:04:05Z")},
		{"another one", many("b", "")},
		{"with nothing", &corev1.Pod{}},
		{"with a status", filledPod()},
		{"that is being deleted", pod(guaranteed, func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Unix(1_700_000_001, 0)) })},
		{"whose labels and annotations are empty", pod(guaranteed, func(p *corev1.Pod) { p.Labels, p.Annotations = map[string]string{}, map[string]string{} })},
		{"with the same key as a label and an annotation", pod(guaranteed, func(p *corev1.Pod) {
			p.Labels, p.Annotations = map[string]string{"k": "label", "l": ""}, map[string]string{"k": "annotation"}
		})},
		{"with the longest keys, and texts longer than these", pod(guaranteed, func(p *corev1.Pod) {
			key := strings.Repeat("k", 253) + "/" + strings.Repeat("n", 63)
			p.Labels = map[string]string{key: "v"}
			p.Annotations = map[string]string{"a": strings.Repeat("v", longText), key: strings.Repeat("v", longText-1), "z": strings.Repeat("w", 2*longText)}
		})},
		{"whose annotations' keys end with the names of containers, or nearly so", filledPod(func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "b-app"}, corev1.Container{Name: "app"})
			p.Annotations = map[string]string{"x.app": "1", "x.b-app": "2", "app": "3", ".app": "4", "x-app": "5", "x.y.app": "6", "x.app.": "7"}
		})},
		{"whose container has no name", filledPod(func(p *corev1.Pod) {
			p.Spec.Containers[0].Name = ""
			p.Annotations = map[string]string{"x.": "1", "": "2", ".": "3"}
		})},
		{"whose status has other amounts than its containers", filledPod(func(p *corev1.Pod) {
			status := &p.Status.ContainerStatuses[0]
			status.AllocatedResources = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0.125"), "example.com/gpu": resource.MustParse("2")}
			status.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{}, Claims: []corev1.ResourceClaim{{Name: "gpu"}}}
		})},
		{"with amounts that are hard to write", filledPod(func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"a": resource.MustParse("1e3"), "b": resource.MustParse("12345678901234567890123"), "c": resource.MustParse("100n"), "d": resource.MustParse("-1.5Gi"), "e": {}}
		})},
		{"with a sidecar", filledPod(func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: &always}, {Name: "migrate"}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "migrate", RestartCount: 1}, {Name: "proxy"}}
		})},
		{"that was resized, once it is not known where", pod(guaranteed, asResized, managedBy(metav1.ManagedFieldsEntry{Manager: "vpa", Subresource: resizeSubresource}))},
		{"whose times are before 1970", pod(guaranteed, managedBy(metav1.ManagedFieldsEntry{Manager: ancientChanges, Time: new(metav1.Unix(-1, 0))}))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := trimPod(tc.pod)
			kept, err := newStock().keep(want.DeepCopy())
			do(t, err)
			if diff := cmp.Diff(want, kept.pod()); diff != "" {
				t.Errorf("-came +kept:\n%s", diff)
			}
		})
	}
}

func TestWhoChangesAPodsOwnChangesNoOther(t *testing.T) {
	kept, err := newStock().keep(trimPod(filledPod(asResized)))
	do(t, err)
	before, changed := kept.pod(), kept.pod()
	changed.Labels["l"] = "other"
	changed.OwnerReferences[0].Name = "other"
	changed.ManagedFields[0].Time = nil
	changed.Spec.Containers[0].Name = "other"
	changed.Status.ContainerStatuses[0].Name = "other"
	changed.Status.ContainerStatuses[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("9")
	if diff := cmp.Diff(before, kept.pod()); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

func TestPodsOfATemplateShareWhatTheyHaveInCommon(t *testing.T) {
	s := newStock()
	keep := func(p *corev1.Pod) *keptPod {
		kept, err := s.keep(p)
		do(t, err)
		return kept
	}
	a, b := keep(many("a", "2026-01-02T03:04:05Z")), keep(many("b", "2026-01-02T03:04:06Z"))
	if a.form != b.form {
		t.Error("two pods of a template share nothing")
	}
	other := many("c", "2026-01-02T03:04:05Z")
	other.Labels = map[string]string{"other": "yes"}
	if c := keep(other); c.keys == a.keys || c.form != a.form {
		t.Error("a pod with other labels shares their keys, or nothing else")
	}
	larger := many("d", "2026-01-02T03:04:05Z")
	larger.Spec.Containers[0].Resources = amounts{"7", "7", "1Gi", "1Gi"}.requirements()
	if d := keep(larger); d.form != a.form {
		t.Error("a pod of another size shares nothing")
	}
	named := many("e", "2026-01-02T03:04:05Z")
	named.Spec.Containers[0].Name = "own"
	if e := keep(named); e.form != a.form {
		t.Error("a pod whose container has another name shares nothing")
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

func TestWhatNoPodHasAnyMoreIsNotKept(t *testing.T) {
	s := newStock()
	_, err := s.keep(many("a", ""))
	do(t, err)
	localcluster.Eventually(t, "the garbage collector to find it", func() error {
		runtime.GC()
		if left := s.forms.count() + s.keys.count(); left > 0 {
			return fmt.Errorf("%d are left", left)
		}
		return nil
	})
}

func (s *shelf[T]) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values)
}

// filledPod has something in most fields that are kept.
func filledPod(with ...func(*corev1.Pod)) *corev1.Pod {
	p := pod(guaranteed, named("shop", "filled", "n4-0"))
	p.Labels = map[string]string{"l": strings.Repeat("v", 63)}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u"}}
	p.Status.Phase, p.Status.QOSClass, p.Status.ObservedGeneration = corev1.PodRunning, corev1.PodQOSGuaranteed, 3
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: p.Spec.Containers[0].Name, RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		Resources: p.Spec.Containers[0].Resources.DeepCopy(), AllocatedResources: p.Spec.Containers[0].Resources.DeepCopy().Requests,
	}}
	for _, f := range with {
		f(p)
	}
	return p
}

func TestTextsThatNoMessageCanHaveAreMadeValid(t *testing.T) {
	p := pod(guaranteed, annotated("applied-instance-type", "n4\xff"), said(corev1.PodResizePending, "Deferred", 5, 20), func(p *corev1.Pod) {
		p.Labels = map[string]string{"a": "\xfe"}
		p.OwnerReferences[0].Name = "rs\xff"
		p.Status.Conditions[0].Message = strings.Repeat("é", 2000)
	})
	trimmed := trimPod(p)
	for _, text := range []string{trimmed.Annotations[contract.AppliedInstanceType], trimmed.Labels["a"], trimmed.OwnerReferences[0].Name, trimmed.Status.Conditions[0].Message} {
		if !utf8.ValidString(text) || text == "" || len(text) > mostMessage+len("…")+2 {
			t.Errorf("%q", text)
		}
	}
}

func TestARecordThatIsLongerThanAnyHonestOneProvesNothing(t *testing.T) {
	p := pod(guaranteed, managedBy(asMade))
	for i := range 2 * mostEntries {
		m := resizeBy(fmt.Sprint("manager-", i), i, contract.CPURequest)
		m.Operation = metav1.ManagedFieldsOperationApply
		p.ManagedFields = append(p.ManagedFields, m)
	}
	h := historyOf(trimPod(p))
	if by, _ := h.setterOf(0, contract.CPURequest); by != unknown || len(h.entries) > mostEntries || !h.cut {
		t.Errorf("set by %v: %+v", by, h)
	}
}
