package contract

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestAnnotationKeysOfThePublishedController(t *testing.T) {
	for got, want := range map[string]string{
		OriginalCPU("app"):    "workload-resizer.io/original-cpu.app",
		OriginalMemory("app"): "workload-resizer.io/original-memory.app",
		AppliedInstanceType:   "workload-resizer.io/applied-instance-type",
		AppliedAt:             "workload-resizer.io/applied-at",
		Skip:                  "workload-resizer.io/skip",
	} {
		if got != want {
			t.Errorf("key %q, want %q", got, want)
		}
	}
}

func TestAnnotationKeysAreValidAndDistinctForEveryContainerName(t *testing.T) {
	long := strings.Repeat("a", 62)
	names := []string{"a", "app", long + "b", long + "c", strings.Repeat("x-", 31) + "x"}
	for n := 40; n <= 63; n++ {
		names = append(names, strings.Repeat("n", n))
	}
	seen := map[string]string{}
	for _, name := range names {
		for _, key := range []string{OriginalCPU(name), OriginalMemory(name), OriginalCPULimit(name), OriginalMemoryLimit(name)} {
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

func TestReasonsAreDocumentedOnce(t *testing.T) {
	seen := map[Reason]bool{}
	for _, info := range Reasons() {
		if seen[info.Reason] {
			t.Errorf("%s is listed twice", info.Reason)
		}
		seen[info.Reason] = true
		if !strings.HasSuffix(info.Meaning, ".") {
			t.Errorf("%s: meaning %q is no sentence", info.Reason, info.Meaning)
		}
	}
}
