package podtest

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// AncientChanges is the manager of the entry that the API server merges the oldest entries
// into.
const AncientChanges = "ancient-changes"

// Start is the time at which tests start.
var Start = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// At returns the time the given number of seconds after Start.
func At(seconds int) time.Time { return Start.Add(time.Duration(seconds) * time.Second) }

// Managed returns an entry of managedFields; an entry of a resize owns all amounts of app.
func Managed(manager, subresource string, seconds int, fields ...string) metav1.ManagedFieldsEntry {
	annotated, spec := `".":{}`, `"f:containers":{"k:{\"name\":\"app\"}":{}}`
	if subresource == contract.ResizeSubresource {
		spec = `"f:containers":{` + AmountFields("app", contract.Originals[:]...) + `}`
	}
	for _, f := range fields {
		if strings.Contains(f, "/") {
			annotated += `,"f:` + f + `":{}`
		} else {
			spec += `,"f:` + f + `":{}`
		}
	}
	when := metav1.NewTime(At(seconds))
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: &when,
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{` + annotated + `}},"f:spec":{` + spec + `}}`)}
}

// AmountFields returns the fields of a container's amounts.
func AmountFields(container string, which ...contract.Original) string {
	var lists [2]string
	for _, w := range which {
		name := `,"f:cpu":{}`
		if w >= contract.MemoryRequest {
			name = `,"f:memory":{}`
		}
		lists[w%2] += name
	}
	return `"k:{\"name\":\"` + container + `\"}":{".":{},"f:resources":{"f:limits":{".":{}` + lists[1] + `},"f:requests":{".":{}` + lists[0] + `}}}`
}

// ResizeBy returns the entry of a resize of some amounts of app.
func ResizeBy(manager string, seconds int, which ...contract.Original) metav1.ManagedFieldsEntry {
	m := Managed(manager, contract.ResizeSubresource, seconds)
	m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + AmountFields("app", which...) + `}}}`)
	return m
}

// ResizeOf returns the entry of our resize of these containers.
func ResizeOf(seconds int, containers ...string) metav1.ManagedFieldsEntry {
	var all []string
	for _, name := range containers {
		all = append(all, AmountFields(name, contract.Originals[:]...))
	}
	m := Managed(contract.FieldManager, contract.ResizeSubresource, seconds)
	m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + strings.Join(all, ",") + `}}}`)
	return m
}

// ManagedBy adds entries to managedFields.
func ManagedBy(entries ...metav1.ManagedFieldsEntry) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.ManagedFields = append(p.ManagedFields, entries...) }
}

var (
	// BareMade is the entry of a pod's creator, if other managers own the amounts.
	BareMade = Managed("kube-controller-manager", "", 0, "containers", "restartPolicy")
	// AsMade is like BareMade, but owns the amounts of app.
	AsMade = func() metav1.ManagedFieldsEntry {
		m := BareMade
		m.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:containers":{` + AmountFields("app", contract.Originals[:]...) + `},"f:restartPolicy":{}}}`)
		return m
	}()
	// AsCreated makes a pod that was never resized.
	AsCreated = ManagedBy(AsMade, Managed("kubelet", "status", 1, "conditions"))
	// AsResized makes a pod that we resized.
	AsResized = ManagedBy(AsMade, Managed("kubelet", "status", 1, "conditions"),
		Managed(contract.FieldManager, "resize", 10, "containers"),
		Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))
)

// AsPublished makes a pod that another controller with our annotations resized.
var AsPublished = ManagedBy(AsMade, Managed("published", "resize", 10), Managed("published", "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app"))
