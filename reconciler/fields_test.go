package reconciler

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func TestAFieldCountsOnlyWhereItReallyIs(t *testing.T) {
	applied := `"f:` + contract.AppliedAt + `":{}`
	for _, tc := range []struct {
		name, raw string
		want      bool
	}{
		{"among annotations", `{"f:metadata":{"f:annotations":{".":{},` + applied + `}}}`, true},
		{"after others, with braces and quotes in their keys", `{"f:a":{"k:{\"b\":\"}\"}":{".":{}}},"f:metadata":{"f:annotations":{"f:x":{},` + applied + `},"f:labels":{}},"f:spec":{}}`, true},
		{"among labels", `{"f:metadata":{"f:labels":{` + applied + `}}}`, false},
		{"at the top", `{` + applied + `}`, false},
		{"deeper", `{"f:metadata":{"f:annotations":{"f:x":{` + applied + `}}}}`, false},
		{"in a key of something else", `{"f:metadata":{"f:annotations":{"f:x \"f:` + contract.AppliedAt + `\"":{}}}}`, false},
		{"a longer name", `{"f:metadata":{"f:annotations":{"f:` + contract.AppliedAt + `x":{}}}}`, false},
		{"of what was trimmed", string(fieldCreation.begins) + string(fieldApplied.begins), true},
		{"of nothing", ``, false},
		{"of what ends too early", `{"f:metadata":{"f:annotations":{` + `"f:x":{`, false},
		{"of a list", `{"f:metadata":[{"f:annotations":{` + applied + `}}]}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := has(&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(tc.raw)}, fieldApplied); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
	if has(&metav1.ManagedFieldsEntry{}, fieldApplied) {
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
