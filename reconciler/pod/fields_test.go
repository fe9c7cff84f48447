package pod

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestFields(t *testing.T) {
	t.Run("counts a field only at its real position", countsAFieldOnlyAtItsRealPosition)
	t.Run("reads the fields of each of many containers", readsTheFieldsOfEachOfManyContainers)
}

func countsAFieldOnlyAtItsRealPosition(t *testing.T) {
	applied := `"f:` + contract.AppliedAt + `":{}`
	app := `"k:{\"name\":\"app\"}":{"f:resources":{"f:requests":{"f:cpu":{}}}}`
	none, applies := []entry{}, []entry{{deeds: applying}}
	for _, tc := range []struct {
		name, raw string
		want      []entry
	}{
		{"counts an annotation", `{"f:metadata":{"f:annotations":{".":{},` + applied + `}}}`, applies},
		{"counts an annotation after keys with braces and quotes", `{"f:a":{"k:{\"b\":\"}\"}":{".":{}}},"f:metadata":{"f:annotations":{"f:x":{},` + applied + `},"f:labels":{}},"f:spec":{}}`, applies},
		{"ignores a label", `{"f:metadata":{"f:labels":{` + applied + `}}}`, none},
		{"ignores a field at the top level", `{` + applied + `}`, none},
		{"ignores a nested field", `{"f:metadata":{"f:annotations":{"f:x":{` + applied + `}}}}`, none},
		{"ignores text within another key", `{"f:metadata":{"f:annotations":{"f:x \"f:` + contract.AppliedAt + `\"":{}}}}`, none},
		{"ignores a longer name", `{"f:metadata":{"f:annotations":{"f:` + contract.AppliedAt + `x":{}}}}`, none},
		{"ignores empty fields", ``, none},
		{"ignores truncated fields", `{"f:metadata":{"f:annotations":{` + `"f:x":{`, none},
		{"ignores a list", `{"f:metadata":[{"f:annotations":{` + applied + `}}]}`, none},
		{"reads an original", `{"f:metadata":{"f:annotations":{"f:workload-resizer.io/original-memory.init":{}}}}`, []entry{{originals: []uint8{0, 0, 1 << contract.MemoryRequest, 0}}}},
		{"ignores the original of a missing container", `{"f:metadata":{"f:annotations":{"f:workload-resizer.io/original-cpu.gone":{}}}}`, none},
		{"reads an amount", `{"f:spec":{"f:containers":{` + app + `}}}`, []entry{{sets: []uint8{1 << contract.CPURequest, 0, 0, 0}}}},
		{"reads an amount of an init container", `{"f:spec":{"f:initContainers":{"k:{\"name\":\"init\"}":{"f:resources":{"f:limits":{"f:memory":{}}}}}}}`, []entry{{sets: []uint8{0, 0, 1 << contract.MemoryLimit, 0}}}},
		{"ignores an amount in the wrong list", `{"f:spec":{"f:initContainers":{` + app + `}}}`, none},
		{"ignores an amount of a status", `{"f:status":{"f:containers":{` + app + `}}}`, none},
		{"ignores an amount whose key has more than a name", `{"f:spec":{"f:containers":{"k:{\"name\":\"app\",\"x\":1}":{"f:resources":{"f:requests":{"f:cpu":{}}}}}}}`, none},
		{"reads amounts of several containers in any order", `{"f:spec":{"f:containers":{"k:{\"name\":\"second\"}":{"f:resources":{"f:limits":{"f:memory":{},"f:cpu":{}},"f:requests":{"f:memory":{}}}},` + app + `},"f:initContainers":{"k:{\"name\":\"last\"}":{"f:resources":{"f:limits":{"f:cpu":{},"f:memory":{}},"f:requests":{"f:memory":{},"f:cpu":{}}}}}}}`,
			[]entry{{sets: []uint8{1 << contract.CPURequest, 1<<contract.CPULimit | 1<<contract.MemoryRequest | 1<<contract.MemoryLimit, 0, 15}}}},
		{"reads originals of several containers", `{"f:metadata":{"f:annotations":{"f:workload-resizer.io/original-cpu.last":{},"f:workload-resizer.io/original-memory-limit.last":{},"f:workload-resizer.io/original-cpu-limit.second":{},"f:workload-resizer.io/original-cpu.init":{}}}}`,
			[]entry{{originals: []uint8{0, 1 << contract.CPULimit, 1 << contract.CPURequest, 1<<contract.CPURequest | 1<<contract.MemoryLimit}}}},
		{"reads all deeds", `{"f:metadata":{"f:annotations":{` + applied + `,"f:workload-resizer.io/originals-by":{},"f:workload-resizer.io/infeasible":{},"f:workload-resizer.io/adopted-cpu.app":{}}},"f:spec":{"f:restartPolicy":{}}}`,
			[]entry{{deeds: applying | vouching | answering | creation, adopts: []uint8{1 << contract.CPURequest, 0, 0, 0}}}},
		{"reads all deeds in any order", `{"f:spec":{"f:restartPolicy":{}},"f:metadata":{"f:annotations":{"f:workload-resizer.io/adopted-cpu.app":{},"f:workload-resizer.io/infeasible":{},"f:workload-resizer.io/originals-by":{},"f:workload-resizer.io/applied-instance-type":{}}}}`,
			[]entry{{deeds: applying | vouching | answering | creation, adopts: []uint8{1 << contract.CPURequest, 0, 0, 0}}}},
		{"reads adopted amounts of several containers", `{"f:metadata":{"f:annotations":{"f:workload-resizer.io/adopted-cpu-limit.second":{},"f:workload-resizer.io/adopted-memory.init":{},"f:workload-resizer.io/adopted-cpu.gone":{}}}}`,
			[]entry{{adopts: []uint8{0, 1 << contract.CPULimit, 1 << contract.MemoryRequest, 0}}}},
		{"ignores the time of adoption", `{"f:metadata":{"f:annotations":{"f:workload-resizer.io/adopted-at":{}}}}`, none},
		{"reads the restart policy as creation", `{"f:spec":{"f:restartPolicy":{}}}`, []entry{{deeds: creation}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"})
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second"})
			p.Spec.InitContainers = []corev1.Container{{Name: "init"}, {Name: "last"}}
			p.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(tc.raw)}}
			entries := entriesOf(p)
			if diff := cmp.Diff(tc.want, entries, cmp.AllowUnexported(entry{}), cmpopts.IgnoreFields(entry{}, "seconds")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzMembersOfWhateverIsStored(f *testing.F) {
	for _, seed := range []string{``, `{`, `{"a":{}}`, `{"a":{"b":[]},"c":"d}"}`, `{"k:{\"name\":\"app\"}":{".":{}}}`, `{"a`, `{"a"`, `{"a":`, `{"\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		total := 0
		for key, value := range members(raw) {
			if key[0] != '"' {
				t.Errorf("key %q", key)
			}
			total += len(key) + len(value)
		}
		if total > len(raw) {
			t.Errorf("%d bytes of members in %d bytes", total, len(raw))
		}
	})
}

func readsTheFieldsOfEachOfManyContainers(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"})
	p.Spec.Containers = nil
	var containers, initContainers []string
	for i := range 2 * few {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: fmt.Sprint("app-", i)})
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: fmt.Sprint("init-", i)})
		containers = append(containers, fmt.Sprintf(`"k:{\"name\":\"app-%d\"}":{"f:resources":{"f:requests":{"f:cpu":{}}}}`, i), fmt.Sprintf(`"k:{\"name\":\"gone-%d\"}":{"f:resources":{"f:requests":{"f:cpu":{}}}}`, i))
		initContainers = append(initContainers, fmt.Sprintf(`"k:{\"name\":\"init-%d\"}":{"f:resources":{"f:limits":{"f:memory":{}}}}`, i))
	}
	raw := `{"f:spec":{"f:containers":{` + strings.Join(containers, ",") + `},"f:initContainers":{` + strings.Join(initContainers, ",") + `}}}`
	p.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(raw)}}
	entries := entriesOf(p)
	if len(entries) != 1 || len(entries[0].sets) != 4*few {
		t.Fatalf("%+v", entries)
	}
	for i, bits := range entries[0].sets {
		want := uint8(1) << contract.CPURequest
		if i >= 2*few {
			want = 1 << contract.MemoryLimit
		}
		if bits != want {
			t.Errorf("container %d has %b, want %b", i, bits, want)
		}
	}
}
