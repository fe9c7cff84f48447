package contract

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestContract(t *testing.T) {
	t.Run("keeps the annotation keys of the published controller", keepsTheAnnotationKeysOfThePublishedController)
	t.Run("makes valid and distinct annotation keys for every container name", makesValidAndDistinctAnnotationKeysForEveryContainerName)
	t.Run("documents each reason once", documentsEachReasonOnce)
	t.Run("lists each reason among the known issues", listsEachReasonAmongTheKnownIssues)
}

func keepsTheAnnotationKeysOfThePublishedController(t *testing.T) {
	for got, want := range map[string]string{
		CPURequest.Key("app"):    "workload-resizer.io/original-cpu.app",
		MemoryRequest.Key("app"): "workload-resizer.io/original-memory.app",
		AppliedInstanceType:      "workload-resizer.io/applied-instance-type",
		AppliedAt:                "workload-resizer.io/applied-at",
		Skip:                     "workload-resizer.io/skip",
	} {
		if got != want {
			t.Errorf("key %q, want %q", got, want)
		}
	}
}

func makesValidAndDistinctAnnotationKeysForEveryContainerName(t *testing.T) {
	long := strings.Repeat("a", 62)
	names := []string{"a", "app", long + "b", long + "c", strings.Repeat("x-", 31) + "x"}
	for n := 40; n <= 63; n++ {
		names = append(names, strings.Repeat("n", n))
	}
	seen := map[string]string{}
	for _, name := range names {
		for _, original := range []Original{CPURequest, CPULimit, MemoryRequest, MemoryLimit} {
			key := original.Key(name)
			if adopted := original.AdoptedKey(name); len(validation.IsQualifiedName(adopted)) > 0 || seen[adopted] != "" {
				t.Errorf("key %q of container %q is invalid or not unique", adopted, name)
			} else {
				seen[adopted] = name
			}
			if value, ok := original.In(map[string]string{key: "1"}, name); !ok || value != "1" {
				t.Errorf("looking up key %q returns %q, %v", key, value, ok)
			}
			if _, ok := original.In(map[string]string{"a": "b"}, name); ok {
				t.Errorf("key %q is found in annotations that lack it", key)
			}
			if errs := validation.IsQualifiedName(key); len(errs) > 0 {
				t.Errorf("key %q of container %q: %v", key, name, errs)
			}
			if other, dup := seen[key]; dup {
				t.Errorf("containers %q and %q share the key %q", name, other, key)
			}
			seen[key] = name
		}
	}
}

func documentsEachReasonOnce(t *testing.T) {
	seen := map[Reason]bool{}
	for _, info := range Reasons() {
		if seen[info.Reason] {
			t.Errorf("%s is listed twice", info.Reason)
		}
		seen[info.Reason] = true
		if !strings.HasSuffix(info.Meaning, ".") {
			t.Errorf("%s: meaning %q is not a sentence", info.Reason, info.Meaning)
		}
	}
}

func listsEachReasonAmongTheKnownIssues(t *testing.T) {
	issues, err := os.ReadFile("../../KNOWN_ISSUES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range Reasons() {
		if row := "\n| `" + string(info.Reason) + "` | "; strings.Count(string(issues), row) != 1 {
			t.Errorf("KNOWN_ISSUES.md must have one row that begins with %q", strings.TrimSpace(row))
		}
	}
}
