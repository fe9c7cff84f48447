package reconciler

import (
	"bytes"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// facts is what is kept of the fields of an entry of managedFields, the largest part
// of most pods: a byte of deeds, then two bytes for each container, containers before
// init containers, with a bit for each amount and for each annotation with an
// original that the entry has. What is 0 at the end is left out. It names no
// container, so that pods share it. No byte is '{', which JSON begins with.
type facts []byte

// deed is what an entry says that its manager did.
type deed byte

const (
	// creation: only its creator sets a pod's restart policy, by an update.
	creation deed = 1 << iota
	// applying: it wrote what a pod was sized for, or when.
	applying
	// vouching: it wrote who else could know originals.
	vouching
	// answering: it wrote what the node answered.
	answering
	// adopting: it wrote what of somebody else's was adopted.
	adopting

	allDeeds = creation | applying | vouching | answering | adopting
)

// zero is the byte of no bits.
const zero = '@'

func factsOf(m *metav1.ManagedFieldsEntry) facts {
	if m.FieldsV1 == nil {
		return nil
	}
	return m.FieldsV1.GetRawBytes()
}

func (f facts) is(d deed) bool { return len(f) > 0 && deed(f[0])&d != 0 }

func (f facts) setsAmount(i int, which contract.Original) bool   { return f.has(1+2*i, which) }
func (f facts) setsOriginal(i int, which contract.Original) bool { return f.has(2+2*i, which) }

func (f facts) has(at int, which contract.Original) bool {
	return at < len(f) && f[at]&(1<<which) != 0
}

func isTrimmed(m *metav1.ManagedFieldsEntry) bool { return !isObject(factsOf(m)) }

// mostEntries is how many entries are kept. The API server keeps ten of those who update,
// but any number of those who apply, and each is looked at for every amount.
const mostEntries = 64

// trimHistory keeps of managedFields what history is made from. It keeps what is
// trimmed already. Of a record that is longer than any honest one, nothing is
// believed.
func trimHistory(pod *corev1.Pod) []metav1.ManagedFieldsEntry {
	var kept []metav1.ManagedFieldsEntry
	var keys originalKeys
	for i := range pod.ManagedFields {
		m := &pod.ManagedFields[i]
		if m.Subresource != "" && m.Subresource != resizeSubresource {
			continue
		}
		fields := m.FieldsV1
		if !isTrimmed(m) {
			fields = readFacts(m, pod, &keys)
		}
		if fields != nil || m.Subresource == resizeSubresource || isAnybodys(m) {
			trimmed := metav1.ManagedFieldsEntry{Manager: strings.ToValidUTF8(m.Manager, "\uFFFD"), Subresource: m.Subresource, Time: m.Time, FieldsV1: fields}
			if m.Operation == metav1.ManagedFieldsOperationApply {
				trimmed.Operation = m.Operation
			}
			kept = append(kept, trimmed)
		}
	}
	if len(kept) > mostEntries {
		return []metav1.ManagedFieldsEntry{{Manager: ancientChanges}}
	}
	return kept
}

// readFacts reads the fields of an entry; nil if there is nothing to keep. The API
// server stores what clients make up, too, so that a key counts only where the field
// really is: elsewhere the annotation guard does not look for it.
func readFacts(m *metav1.ManagedFieldsEntry, pod *corev1.Pod, keys *originalKeys) *metav1.FieldsV1 {
	f := facts(bytes.Repeat([]byte{zero}, 1+2*(len(pod.Spec.Containers)+len(pod.Spec.InitContainers))))
	for key, value := range members(m.FieldsV1.GetRawBytes()) {
		switch string(key) {
		case `"f:metadata"`:
			for key := range members(valueOf(value, `"f:annotations"`)) {
				f.addAnnotation(string(unquoted(key)), pod, keys)
			}
		case `"f:spec"`:
			for key, value := range members(value) {
				switch string(key) {
				case `"f:restartPolicy"`:
					if m.Operation != metav1.ManagedFieldsOperationApply {
						f[0] |= byte(creation)
					}
				case `"f:containers"`:
					f[1:].addAmounts(value, pod.Spec.Containers)
				case `"f:initContainers"`:
					f[1+2*len(pod.Spec.Containers):].addAmounts(value, pod.Spec.InitContainers)
				}
			}
		}
	}
	f = bytes.TrimRight(f, string(zero))
	if len(f) == 0 {
		return nil
	}
	return asFields(f)
}

// asFields gives facts the form that pods have them in. There is one copy of those that
// most entries have.
func asFields(f facts) *metav1.FieldsV1 {
	if len(f) == 1 {
		return deeds[deed(f[0])&allDeeds]
	}
	return metav1.NewFieldsV1(string(f))
}

// deeds are facts without containers.
var deeds = func() (fields [allDeeds + 1]*metav1.FieldsV1) {
	for d := range fields {
		fields[d] = metav1.NewFieldsV1(string([]byte{zero | byte(d)}))
	}
	return fields
}()

// addAnnotation takes note of one annotation; key is that of managedFields.
func (f facts) addAnnotation(key string, pod *corev1.Pod, keys *originalKeys) {
	name, ok := strings.CutPrefix(key, "f:")
	switch {
	case !ok:
	case name == contract.AppliedAt || name == contract.AppliedInstanceType:
		f[0] |= byte(applying)
	case name == contract.OriginalsBy:
		f[0] |= byte(vouching)
	case name == contract.Infeasible:
		f[0] |= byte(answering)
	case name != contract.AdoptedAt && strings.HasPrefix(name, contract.AdoptedPrefix):
		f[0] |= byte(adopting)
	case strings.HasPrefix(name, contract.OriginalPrefix):
		if at, ok := keys.of(pod)[name]; ok {
			f[2+2*at.container] |= 1 << at.which
		}
	}
}

// originalKeys has the annotations with originals that containers of a pod may have. They
// are worked out once, and only for pods that have any: a pod may have a thousand
// containers, and ten thousand annotations.
type originalKeys map[string]amountAt

type amountAt struct {
	container int
	which     contract.Original
}

func (k *originalKeys) of(pod *corev1.Pod) originalKeys {
	if *k == nil {
		*k = originalKeys{}
		i := 0
		for c := range containersOf(pod) {
			for _, which := range contract.Originals {
				(*k)[which.Key(c.Name)] = amountAt{i, which}
			}
			i++
		}
	}
	return *k
}

// addAmounts takes note of the amounts of containers that a value of f:containers or
// f:initContainers has; f begins with the first of them.
func (f facts) addAmounts(value []byte, containers []corev1.Container) {
	for key, fields := range members(value) {
		name := nameIn(key)
		for i := range containers {
			if string(name) != containers[i].Name {
				continue
			}
			resources := valueOf(fields, `"f:resources"`)
			f[2*i] |= amountsIn(valueOf(resources, `"f:requests"`), contract.CPURequest, contract.MemoryRequest) |
				amountsIn(valueOf(resources, `"f:limits"`), contract.CPULimit, contract.MemoryLimit)
		}
	}
}

// nameIn returns the name of a container in its key of managedFields.
func nameIn(key []byte) []byte {
	name, ok := bytes.CutPrefix(key, []byte(`"k:{\"name\":\"`))
	name, closed := bytes.CutSuffix(name, []byte(`\"}"`))
	if !ok || !closed {
		return nil // No container has no name.
	}
	return name
}

func amountsIn(list []byte, cpu, memory contract.Original) (bits byte) {
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
