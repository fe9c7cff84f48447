package chaos

import (
	"encoding/json"
	"iter"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// part is a request or a limit of one resource of a container. Each part can be set by a
// different actor.
type part struct {
	container string
	which     contract.Original
}

// pair is the request and the limit of a resource of a container.
type pair struct {
	container *corev1.Container
	resource  corev1.ResourceName
}

func (p pair) request() part      { return part{p.container.Name, originalOf[p.resource]} }
func (p pair) limit() part        { return part{p.container.Name, originalOf[p.resource] + 1} }
func (p pair) now() oracle.Amount { return oracle.AmountOf(p.container.Resources, p.resource) }

// in returns the same pair in another state of the pod.
func (p pair) in(pod *corev1.Pod) pair {
	for other := range pairsOf(pod) {
		if other.container.Name == p.container.Name && other.resource == p.resource {
			return other
		}
	}
	panic("a pod's containers never change")
}

// parts returns the parts that the pair has.
func (p pair) parts() []part {
	switch now := p.now(); {
	case now.Request == 0:
		return nil
	case now.Limit == 0:
		return []part{p.request()}
	}
	return []part{p.request(), p.limit()}
}

var originalOf = map[corev1.ResourceName]contract.Original{corev1.ResourceCPU: contract.CPURequest, corev1.ResourceMemory: contract.MemoryRequest}

// pairsOf returns all pairs that a pod may have.
func pairsOf(pod *corev1.Pod) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for _, c := range resizable(pod) {
			if !yield(pair{c, corev1.ResourceCPU}) || !yield(pair{c, corev1.ResourceMemory}) {
				return
			}
		}
	}
}

// amountsOf returns the amounts of all parts that a pod has.
func amountsOf(pod *corev1.Pod) map[part]int64 {
	all := map[part]int64{}
	for p := range pairsOf(pod) {
		all[p.request()], all[p.limit()] = p.now().Request, p.now().Limit
		for _, which := range []part{p.request(), p.limit()} {
			if all[which] == 0 {
				delete(all, which)
			}
		}
	}
	return all
}

// ancient is the manager into which the API server merges the oldest others.
const ancient = "ancient-changes"

// fields are the fields of an entry of managedFields, in their JSON form.
type fields map[string]any

func (f fields) at(keys ...string) fields {
	for _, key := range keys {
		f, _ = f[key].(map[string]any)
	}
	return f
}

// record is the API server's record of who wrote what in a pod.
type record struct {
	entries []metav1.ManagedFieldsEntry
	fields  []fields
}

func recordOf(pod *corev1.Pod) record {
	r := record{entries: pod.ManagedFields}
	for i := range r.entries {
		f := fields{}
		if v := r.entries[i].FieldsV1; v != nil {
			if err := json.Unmarshal(v.GetRawBytes(), &f); err != nil {
				panic(err) // The API server wrote it.
			}
		}
		r.fields = append(r.fields, f)
	}
	return r
}

// merged reports whether entries were merged, in which case a missing entry proves
// nothing.
func (r record) merged() bool {
	for i := range r.entries {
		if r.entries[i].Manager == ancient {
			return true
		}
	}
	return false
}

// owners returns the entries that own an amount.
func (r record) owners(p part) []metav1.ManagedFieldsEntry {
	return r.having(func(f fields) bool {
		list, resource := "f:requests", "f:cpu"
		if p.which == contract.CPULimit || p.which == contract.MemoryLimit {
			list = "f:limits"
		}
		if p.which == contract.MemoryRequest || p.which == contract.MemoryLimit {
			resource = "f:memory"
		}
		for _, containers := range []string{"f:containers", "f:initContainers"} {
			if _, ok := f.at("f:spec", containers, `k:{"name":"`+p.container+`"}`, "f:resources", list)[resource]; ok {
				return true
			}
		}
		return false
	})
}

// annotators returns the entries that own an annotation.
func (r record) annotators(key string) []metav1.ManagedFieldsEntry {
	return r.having(func(f fields) bool {
		_, ok := f.at("f:metadata", "f:annotations")["f:"+key]
		return ok
	})
}

func (r record) having(has func(fields) bool) (entries []metav1.ManagedFieldsEntry) {
	for i, f := range r.fields {
		if has(f) {
			entries = append(entries, r.entries[i])
		}
	}
	return entries
}

// near reports whether a resource has the given amounts, except for rounding.
func (p pair) near(to oracle.Amount) bool {
	most := int64(oracle.Mebibyte)
	if p.resource == corev1.ResourceCPU {
		most = 3
	}
	now := p.now()
	return distance(now.Request, to.Request) <= most && distance(now.Limit, to.Limit) <= most
}
