package pod

import (
	"bytes"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// entry is an entry of managedFields: what its manager did to the main resource or to the
// resize subresource.
type entry struct {
	manager string
	// resize marks writes through the resize subresource, applied marks server-side apply.
	resize, applied bool
	// seconds is the time in Unix seconds; never 0.
	seconds int64
	deeds   deed
	// By container, sets has a bit for each amount that the entry owns, originals for each
	// annotation with an original, and adopts for each annotation with an adopted amount.
	sets, originals, adopts []uint8
}

// deed is a write by a manager that concerns the pod as a whole.
type deed byte

const (
	// creation: it created the pod. Only the creator sets the restart policy by an update.
	creation deed = 1 << iota
	// applying: it wrote the node type that the pod was sized for, or the time.
	applying
	// vouching: it wrote which managers' originals are trusted.
	vouching
	// answering: it wrote the node's answer.
	answering
	// annotatingSizes: it wrote what a resize changed.
	annotatingSizes
	// annotatingDemand: it wrote what the containers needed then.
	annotatingDemand
	// reverting: it wrote which resizes were reverted.
	reverting
	// raising: it wrote that another controller raises cpu while the pod starts.
	raising
)

func (e *entry) is(d deed) bool { return e.deeds&d != 0 }

func (e *entry) setsAmount(i int, which contract.Original) bool {
	return e.sets != nil && e.sets[i]&(1<<which) != 0
}

func (e *entry) setsOriginal(i int, which contract.Original) bool {
	return e.originals != nil && e.originals[i]&(1<<which) != 0
}

func (e *entry) setsAdopted(i int, which contract.Original) bool {
	return e.adopts != nil && e.adopts[i]&(1<<which) != 0
}

// The API server merges the oldest entries into an entry of ancientChanges if there are
// more than ten. If a pod without managedFields is applied to, the API server assigns the
// existing fields to beforeFirstApply.
const (
	ancientChanges   = "ancient-changes"
	beforeFirstApply = "before-first-apply"
)

// anybodys reports whether any manager may have set the fields of the entry.
func (e *entry) anybodys() bool { return e.manager == ancientChanges || e.manager == beforeFirstApply }

// mostEntries is the maximum number of entries that are read. The API server keeps ten
// entries of updates, but any number of entries of server-side apply, and every lookup of
// an amount reads all entries.
const mostEntries = 64

// entriesOf reads the entries of managedFields that concern sizes. If there are more entries
// than any real pod has, it trusts none of them.
func entriesOf(pod *corev1.Pod) []entry {
	entries := make([]entry, 0, min(len(pod.ManagedFields), mostEntries))
	var keys keysOf
	for i := range pod.ManagedFields {
		m := &pod.ManagedFields[i]
		if m.Subresource != "" && m.Subresource != contract.ResizeSubresource {
			continue
		}
		e := entry{
			manager: strings.ToValidUTF8(m.Manager, "\uFFFD"), resize: m.Subresource != "",
			applied: m.Operation == metav1.ManagedFieldsOperationApply, seconds: 1,
		}
		if m.Time != nil {
			e.seconds = max(1, m.Time.Unix())
		}
		if m.FieldsV1 != nil {
			e.read(m.FieldsV1.GetRawBytes(), pod, &keys)
		}
		if e.deeds != 0 || e.sets != nil || e.originals != nil || e.adopts != nil || e.resize || e.anybodys() {
			entries = append(entries, e)
		}
		if len(entries) > mostEntries {
			return []entry{{manager: ancientChanges, seconds: 1}}
		}
	}
	return entries
}

// read reads the fields of an entry. The API server also stores keys that clients invent, so
// a key counts only at the position of the real field: the annotation guard does not check
// other positions.
func (e *entry) read(fields []byte, pod *corev1.Pod, keys *keysOf) {
	for key, value := range members(fields) {
		switch string(key) {
		case `"f:metadata"`:
			for key := range members(valueOf(value, `"f:annotations"`)) {
				e.addAnnotation(string(unquoted(key)), pod, keys)
			}
		case `"f:spec"`:
			for key, value := range members(value) {
				switch string(key) {
				case `"f:restartPolicy"`:
					if !e.applied {
						e.deeds |= creation
					}
				case `"f:containers"`:
					e.addAmounts(value, pod, 0, keys)
				case `"f:initContainers"`:
					e.addAmounts(value, pod, 1, keys)
				}
			}
		}
	}
}

// addAnnotation notes one annotation; key is its key in managedFields.
func (e *entry) addAnnotation(key string, pod *corev1.Pod, keys *keysOf) {
	name, ok := strings.CutPrefix(key, "f:"+contract.Prefix)
	if !ok {
		if key == "f:"+startupCPUBoost || strings.HasPrefix(key, "f:"+vpaStartupBoost) {
			e.deeds |= raising
		}
		return
	}
	name = contract.Prefix + name
	switch {
	case name == contract.AppliedAt || name == contract.AppliedInstanceType:
		e.deeds |= applying
	case name == contract.OriginalsBy:
		e.deeds |= vouching
	case name == contract.Infeasible:
		e.deeds |= answering
	case name == contract.AppliedSizes:
		e.deeds |= annotatingSizes
	case name == contract.AppliedDemand:
		e.deeds |= annotatingDemand
	case name == contract.Reverts:
		e.deeds |= reverting
	case strings.HasPrefix(name, contract.OriginalPrefix):
		if at, ok := find(&keys.originals, contract.Original.Key, pod, name); ok {
			mark(&e.originals, pod, at.container, 1<<at.which)
		}
	case strings.HasPrefix(name, contract.AdoptedPrefix):
		if at, ok := find(&keys.adopted, contract.Original.AdoptedKey, pod, name); ok {
			mark(&e.adopts, pod, at.container, 1<<at.which)
		}
	}
}

// mark sets bits for a container.
func mark(of *[]uint8, pod *corev1.Pod, container int, bits uint8) {
	if *of == nil {
		*of = make([]uint8, len(pod.Spec.Containers)+len(pod.Spec.InitContainers))
	}
	(*of)[container] |= bits
}

// keysOf holds the keys that the entries of a pod may contain. Each map is computed once,
// and only if needed: a pod may have a thousand containers, and an entry may have ten
// thousand invented keys.
type keysOf struct {
	// originals and adopted are keyed by annotation. Most pods have no adopted amounts.
	originals, adopted map[string]amountAt
	// containers holds the indices of containers by name, separately for init containers.
	containers [2]map[string]int
}

type amountAt struct {
	container int
	which     contract.Original
}

// find returns the amount that an annotation is about. It computes keys on first use.
func find(keys *map[string]amountAt, keyOf func(contract.Original, string) string, pod *corev1.Pod, name string) (at amountAt, ok bool) {
	if *keys == nil {
		*keys = map[string]amountAt{}
		for i, containers := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for j := range containers {
				for _, which := range contract.Originals {
					(*keys)[keyOf(which, containers[j].Name)] = amountAt{i*len(pod.Spec.Containers) + j, which}
				}
			}
		}
	}
	at, ok = (*keys)[name]
	return at, ok
}

// few is the number of containers up to which a linear search is faster than a map.
const few = 8

// container returns the index of a container in a list; init is 1 for init containers.
func (k *keysOf) container(containers []corev1.Container, init int, name []byte) (place int, ok bool) {
	if len(containers) <= few {
		for i := range containers { // By index: a Container has a thousand bytes.
			if containers[i].Name == string(name) {
				return i, true
			}
		}
		return 0, false
	}
	if k.containers[init] == nil {
		k.containers[init] = make(map[string]int, len(containers))
		for i := range containers {
			k.containers[init][containers[i].Name] = i
		}
	}
	place, ok = k.containers[init][string(name)]
	return place, ok
}

// addAmounts notes the amounts of containers in the value of f:containers or
// f:initContainers; init is 1 for the latter.
func (e *entry) addAmounts(value []byte, pod *corev1.Pod, init int, keys *keysOf) {
	containers, first := pod.Spec.Containers, 0
	if init == 1 {
		containers, first = pod.Spec.InitContainers, len(containers)
	}
	for key, fields := range members(value) {
		place, ok := keys.container(containers, init, nameIn(key))
		if !ok {
			continue
		}
		resources := valueOf(fields, `"f:resources"`)
		bits := amountsIn(valueOf(resources, `"f:requests"`), contract.CPURequest, contract.MemoryRequest) |
			amountsIn(valueOf(resources, `"f:limits"`), contract.CPULimit, contract.MemoryLimit)
		if bits != 0 {
			mark(&e.sets, pod, first+place, bits)
		}
	}
}

// nameIn returns the name of a container from its key in managedFields. For any other key,
// the result contains quotes, so it matches no name.
func nameIn(key []byte) []byte {
	name, _ := bytes.CutPrefix(key, []byte(`"k:{\"name\":\"`))
	name, _ = bytes.CutSuffix(name, []byte(`\"}"`))
	return name
}

func amountsIn(list []byte, cpu, memory contract.Original) (bits uint8) {
	for key := range members(list) {
		switch string(key) {
		case `"f:cpu"`:
			bits |= 1 << cpu
		case `"f:memory"`:
			bits |= 1 << memory
		}
	}
	return bits
}
