package reconciler

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func TestAFieldCountsOnlyWhereItReallyIs(t *testing.T) {
	applied := `"f:` + contract.AppliedAt + `":{}`
	app := `"k:{\"name\":\"app\"}":{"f:resources":{"f:requests":{"f:cpu":{}}}}`
	for _, tc := range []struct{ name, raw, want string }{
		{"among annotations", `{"f:metadata":{"f:annotations":{".":{},` + applied + `}}}`, "B"},
		{"after others, with braces and quotes in their keys", `{"f:a":{"k:{\"b\":\"}\"}":{".":{}}},"f:metadata":{"f:annotations":{"f:x":{},` + applied + `},"f:labels":{}},"f:spec":{}}`, "B"},
		{"among labels", `{"f:metadata":{"f:labels":{` + applied + `}}}`, ""},
		{"at the top", `{` + applied + `}`, ""},
		{"deeper", `{"f:metadata":{"f:annotations":{"f:x":{` + applied + `}}}}`, ""},
		{"in a key of something else", `{"f:metadata":{"f:annotations":{"f:x \"f:` + contract.AppliedAt + `\"":{}}}}`, ""},
		{"a longer name", `{"f:metadata":{"f:annotations":{"f:` + contract.AppliedAt + `x":{}}}}`, ""},
		{"of nothing", ``, ""},
		{"of what ends too early", `{"f:metadata":{"f:annotations":{` + `"f:x":{`, ""},
		{"of a list", `{"f:metadata":[{"f:annotations":{` + applied + `}}]}`, ""},
		{"an original", `{"f:metadata":{"f:annotations":{"f:workload-resizer.io/original-memory.init":{}}}}`, "@@@@D"},
		{"the original of a container that is not there", `{"f:metadata":{"f:annotations":{"f:workload-resizer.io/original-cpu.gone":{}}}}`, ""},
		{"an amount", `{"f:spec":{"f:containers":{` + app + `}}}`, "@A"},
		{"an amount of an init container", `{"f:spec":{"f:initContainers":{"k:{\"name\":\"init\"}":{"f:resources":{"f:limits":{"f:memory":{}}}}}}}`, "@@@H"},
		{"an amount in the wrong list", `{"f:spec":{"f:initContainers":{` + app + `}}}`, ""},
		{"an amount of a status", `{"f:status":{"f:containers":{` + app + `}}}`, ""},
		{"an amount of a key by more than a name", `{"f:spec":{"f:containers":{"k:{\"name\":\"app\",\"x\":1}":{"f:resources":{"f:requests":{"f:cpu":{}}}}}}}`, ""},
		{"a restart policy", `{"f:spec":{"f:restartPolicy":{}}}`, "A"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := pod(guaranteed)
			p.Spec.InitContainers = []corev1.Container{{Name: "init"}}
			got := factsOf(&metav1.ManagedFieldsEntry{FieldsV1: readFacts(&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(tc.raw)}, p, new(originalKeys))})
			if string(got) != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	if factsOf(&metav1.ManagedFieldsEntry{}).is(applying) {
		t.Error("an entry without fields has one")
	}
}

func FuzzMembersOfWhateverIsStored(f *testing.F) {
	for _, seed := range []string{``, `{`, `{"a":{}}`, `{"a":{"b":[]},"c":"d}"}`, `{"k:{\"name\":\"app\"}":{".":{}}}`, `{"a"`, `{"a":`, `{"\`} {
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
			t.Errorf("%d bytes of %d", total, len(raw))
		}
	})
}
