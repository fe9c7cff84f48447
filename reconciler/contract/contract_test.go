package contract

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestContract(t *testing.T) {
	t.Run("keeps the annotation keys of the published controller", keepsTheAnnotationKeysOfThePublishedController)
	t.Run("makes valid and distinct annotation keys for every container name", makesValidAndDistinctAnnotationKeysForEveryContainerName)
	t.Run("documents each reason once", documentsEachReasonOnce)
	t.Run("says what to do about each reason", saysWhatToDoAboutEachReason)
}

func keepsTheAnnotationKeysOfThePublishedController(t *testing.T) {
	for got, want := range map[string]string{
		CPURequest.Key("app"):    "workload-resizer.io/original-cpu.app",
		MemoryRequest.Key("app"): "workload-resizer.io/original-memory.app",
		AppliedInstanceType:      "workload-resizer.io/applied-instance-type",
		AppliedAt:                "workload-resizer.io/applied-at",
		Skip:                     "workload-resizer.io/skip",
		EvictionRank:             "workload-resizer.io/eviction-rank",
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

func saysWhatToDoAboutEachReason(t *testing.T) {
	for _, info := range Reasons() {
		if info.Remedy == "" || strings.HasSuffix(info.Remedy, ".") || strings.Count(info.Remedy, "`")%2 != 0 {
			t.Errorf("%s: the remedy %q is not a phrase with code between backticks", info.Reason, info.Remedy)
		}
		if info.See == "" {
			continue
		}
		file, section, _ := strings.Cut(info.See, "#")
		page, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Errorf("%s: %v", info.Reason, err)
		}
		if !slices.ContainsFunc(strings.Split(string(page), "\n"), func(line string) bool { return anchor(line) == section }) {
			t.Errorf("%s: %s has no section %q", info.Reason, file, section)
		}
	}
}

// anchor returns the anchor of a heading in Markdown; empty for other lines.
func anchor(line string) string {
	title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
	if !ok || !strings.HasPrefix(line, "#") {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}
