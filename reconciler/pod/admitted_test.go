package pod

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// shrinks is what the server did to a pod while it was being created.
const shrinks = "app 0 cpu 1/2>800m/1600m"

// proven signs that.
func proven(t *testing.T, keys *seal.Ring) func(*corev1.Pod) {
	t.Helper()
	return func(p *corev1.Pod) {
		text, err := keys.Sign(seal.SubjectOf(&p.ObjectMeta, p.Namespace), seal.Creation{NodeType: "n4", At: podtest.Start, Sizes: shrinks})
		if err != nil {
			t.Fatal(err)
		}
		p.Annotations[contract.CreatedSizes] = text
	}
}

func amounts(request, limit string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		r := &p.Spec.Containers[0].Resources
		r.Requests, r.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}, corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
}

func TestObservedFromItsStart(t *testing.T) {
	keys, _ := (*seal.Ring)(nil).Renewed(podtest.Start.Add(-time.Hour))
	yes, started := true, metav1.NewTime(podtest.At(3600))
	p := FromProven(podtest.Pod(podtest.Amounts{}, amounts("800m", "1600m"), podtest.AsCreated, func(p *corev1.Pod) {
		p.CreationTimestamp, p.Annotations = metav1.NewTime(podtest.Start), map[string]string{}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "owner", Controller: &yes}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}}}
	}, proven(t, keys)), keys)
	// It waited for room for an hour, and has shown nothing until it started.
	if !p.SizedAtCreation() || !p.ResizedAt().Equal(started.Time) || !p.AppliedAt().Equal(started.Time) {
		t.Errorf("sized at creation: %t, resized at %s, applied at %s; want %s", p.SizedAtCreation(), p.ResizedAt(), p.AppliedAt(), started)
	}
}

func TestAdmitted(t *testing.T) {
	keys, _ := (*seal.Ring)(nil).Renewed(podtest.Start.Add(-time.Hour))
	annotate := func(key, text string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations[key] = text }
	}
	owned := func(p *corev1.Pod) {
		yes := true
		p.CreationTimestamp = metav1.NewTime(podtest.Start)
		if len(p.ManagedFields) == 0 {
			p.ManagedFields = []metav1.ManagedFieldsEntry{podtest.AsMade}
		}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "owner", Controller: &yes}}
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
	}
	stamped := func(p *corev1.Pod) {
		p.Annotations["workload-resizer.io/original-cpu.app"], p.Annotations["workload-resizer.io/original-cpu-limit.app"] = "1", "2"
	}
	emitted, authored := sizing.Amount{Request: 800, Limit: 1600}, sizing.Amount{Request: 1000, Limit: 2000}
	for _, tc := range []struct {
		name    string
		keys    *seal.Ring
		changes []func(*corev1.Pod)
		// original is what the author wrote, lost part of why that is not known.
		original sizing.Amount
		lost     string
		// unannotated means that originals must be written, at that the pod counts as sized at its creation.
		unannotated, at bool
	}{
		{"as it was created", keys, []func(*corev1.Pod){amounts("800m", "1600m"), owned, stamped, proven(t, keys)}, authored, "", false, true},
		{"without originals", keys, []func(*corev1.Pod){amounts("800m", "1600m"), owned, proven(t, keys)}, authored, "", true, true},
		{"with false originals", keys, []func(*corev1.Pod){amounts("800m", "1600m"), owned, proven(t, keys), annotate("workload-resizer.io/original-cpu.app", "50m")}, authored, "", true, true},
		{"changed by another webhook since", keys, []func(*corev1.Pod){amounts("300m", "600m"), owned, stamped, proven(t, keys)}, sizing.Amount{Request: 300, Limit: 600}, "", true, true},
		{"resized since", keys, []func(*corev1.Pod){amounts("800m", "1600m"), owned, stamped, proven(t, keys), podtest.ManagedBy(podtest.ResizeOf(60, "app"))}, authored, "", false, false},
		{"no key", nil, []func(*corev1.Pod){amounts("800m", "1600m"), owned, stamped, proven(t, keys)}, sizing.Amount{}, "is not known", false, false},
		{"copied to another controller", keys, []func(*corev1.Pod){amounts("800m", "1600m"), owned, stamped, proven(t, keys), func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }}, sizing.Amount{}, "it was not signed for this pod", false, false},
		{"replayed", keys, []func(*corev1.Pod){amounts("800m", "1600m"), owned, stamped, proven(t, keys), func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(podtest.Start.Add(time.Hour)) }}, sizing.Amount{}, "is valid for pods that are created within 5m0s", false, false},
		{"forged", keys, []func(*corev1.Pod){amounts("800m", "1600m"), owned, stamped, annotate(contract.CreatedSizes, "n4 2026-11-28T10:00:00Z 20261128T090000Z AAAA app 0 cpu 9/9>800m/1600m")}, sizing.Amount{}, "is not known", false, false},
		{"not sized", keys, []func(*corev1.Pod){amounts("800m", "1600m"), owned}, emitted, "", true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := FromProven(podtest.Pod(podtest.Amounts{}, tc.changes...), tc.keys)
			c := &p.Containers[0]
			if got := c.Original.CPU; got != tc.original {
				t.Errorf("original %v, want %v", got, tc.original)
			}
			if why := c.WhyLost(sizing.CPU); (c.Standings[sizing.CPU.Index].Claim == Lost) != (tc.lost != "") || !strings.Contains(why, tc.lost) {
				t.Errorf("standing %v, because %q; want %q", c.Standings[sizing.CPU.Index], why, tc.lost)
			}
			if got := c.Unannotated != 0; got != tc.unannotated {
				t.Errorf("unannotated %04b, want any: %t", c.Unannotated, tc.unannotated)
			}
			if p.SizedAtCreation() != tc.at || tc.at && (!p.ResizedAt().Equal(podtest.Start) || !p.AppliedAt().Equal(podtest.Start) || len(p.AppliedSizes()) != 1) {
				t.Errorf("sized at creation: %t, resized at %s, applied %s at %s", p.SizedAtCreation(), p.ResizedAt(), p.AppliedSizes(), p.AppliedAt())
			}
			if resized := c.Resized(); resized != (tc.original == authored) {
				t.Errorf("resized: %t", resized)
			}
		})
	}
}
