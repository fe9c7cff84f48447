package reconciler

import (
	"bytes"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// asMadeWith is a pod whose creator has all amounts in the API server's record.
func asMadeWith(p *corev1.Pod) {
	creator := []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", FieldsV1: deeds[creation]}}
	p.ManagedFields = owning(creator, &corev1.Pod{Spec: corev1.PodSpec{Containers: nameless(p.Spec.Containers), InitContainers: nameless(p.Spec.InitContainers)}}, p, "kube-controller-manager", "", 0)
}

func nameless(containers []corev1.Container) []corev1.Container {
	all := make([]corev1.Container, len(containers))
	for i := range containers {
		all[i].Name = containers[i].Name
	}
	return all
}

// owning is what managedFields become when a manager makes after of before, by an update
// or a patch: it owns what it changes, and nobody else does any more.
func owning(entries []metav1.ManagedFieldsEntry, before, after *corev1.Pod, manager, subresource string, seconds int) []metav1.ManagedFieldsEntry {
	changed := facts(bytes.Repeat([]byte{zero}, 1+2*(len(after.Spec.Containers)+len(after.Spec.InitContainers))))
	i := 0
	was := slices.Concat(before.Spec.Containers, before.Spec.InitContainers)
	for c := range containersOf(after) {
		from, to := sizing.FromResources(was[i].Resources), sizing.FromResources(c.Resources)
		for _, which := range contract.Originals {
			amountBefore, _ := amountOf(&from, which)
			amountAfter, _ := amountOf(&to, which)
			if amountBefore != amountAfter {
				changed[1+2*i] |= 1 << which
			}
			if before.Annotations[which.Key(c.Name)] != after.Annotations[which.Key(c.Name)] {
				changed[2+2*i] |= 1 << which
			}
		}
		i++
	}
	for key, text := range after.Annotations {
		switch {
		case before.Annotations[key] == text:
		case key == contract.AppliedAt || key == contract.AppliedInstanceType:
			changed[0] |= byte(applying)
		case key == contract.OriginalsBy:
			changed[0] |= byte(vouching)
		case key == contract.Infeasible:
			changed[0] |= byte(answering)
		case strings.HasPrefix(key, contract.AdoptedPrefix):
			changed[0] |= byte(adopting)
		}
	}
	var now []metav1.ManagedFieldsEntry
	all := slices.Clone(changed)
	mine := metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource}
	for _, m := range entries {
		has := append(slices.Clone(factsOf(&m)), bytes.Repeat([]byte{zero}, len(changed)-len(factsOf(&m)))...)
		own := m.Manager == manager && m.Subresource == subresource
		for at := range has {
			if own {
				all[at] |= has[at]
			} else if at > 0 {
				has[at] = has[at]&^changed[at] | zero
			}
		}
		m.FieldsV1 = metav1.NewFieldsV1(string(has))
		if !own && len(bytes.TrimRight(has, string(zero))) > 0 {
			now = append(now, m)
		}
	}
	if len(bytes.TrimRight(all, string(zero))) == 0 {
		return now
	}
	when := metav1.NewTime(at(seconds))
	mine.Time, mine.FieldsV1 = &when, metav1.NewFieldsV1(string(all))
	return append(now, mine)
}

// cleaned is the record of a pod that was restored: withoutResizes for trimmed entries.
func cleaned(p *corev1.Pod) []metav1.ManagedFieldsEntry {
	all := facts(bytes.Repeat([]byte{zero}, 1+2*(len(p.Spec.Containers)+len(p.Spec.InitContainers))))
	var kept []metav1.ManagedFieldsEntry
	for _, m := range p.ManagedFields {
		f := factsOf(&m)
		if m.Subresource == resizeSubresource {
			for at := 1; at < len(f); at++ {
				all[at] |= f[at]
			}
		} else if m.Manager != contract.FieldManager {
			kept = append(kept, m)
		}
	}
	for i := range kept {
		if f := factsOf(&kept[i]); f.is(creation) && !isAnybodys(&kept[i]) {
			for at := range f {
				all[at] |= f[at]
			}
			kept[i].FieldsV1 = metav1.NewFieldsV1(string(all))
		}
	}
	return kept
}
