package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (o *observed) oneLineEach(t *testing.T) {
	got := map[string]int{}
	for _, line := range o.log.lines(`"msg":"Pod resized"`) {
		got[podOf(t, line)]++
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"uid", "patchMillis"} {
			if fields[key] == nil || fields[key] == "" {
				t.Errorf("%s has no %s", line, key)
			}
			delete(fields, key)
		}
		delete(fields, "pod")
		delete(fields, "time")
		if diff := cmp.Diff(map[string]any{
			"level": "INFO", "msg": "Pod resized", "node": "n4", "nodeType": "n4", "baseline": "n2d",
			"containers": "app: cpu 1 → 800m, memory 1Gi", "reasons": []any{"Resized"},
		}, fields); diff != "" {
			t.Errorf("line: %s", diff)
		}
	}
	want := map[string]int{}
	for i := range observedPods["n4"] {
		want[fmt.Sprintf("default/n4-%d", i)] = 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines: %s", diff)
	}
	for pod := range want {
		lines := slices.DeleteFunc(o.log.lines(`"`+strings.TrimPrefix(pod, "default/")+`"`), func(line string) bool { return strings.Contains(line, unanswered) })
		if len(lines) != 1 {
			t.Errorf("%d lines about %s: %q", len(lines), pod, lines)
		}
	}
}

// podOf returns NAMESPACE/NAME of the pod that a line is about.
func podOf(t *testing.T, line string) string {
	t.Helper()
	var said struct {
		Pod struct{ Namespace, Name string }
	}
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return said.Pod.Namespace + "/" + said.Pod.Name
}
