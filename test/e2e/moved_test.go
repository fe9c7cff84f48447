package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// moved calls the methods of the old API as a client does that was generated before the methods
// got new names: with the definitions of that time, and without reflection.
func (c *caller) moved(t *testing.T) {
	const update, hold = `{"ratio": {"node_type": "n4", "cpu_perf": 2, "memory_perf": 1}}`, `{"scope": {"all_namespaces": true}, "reason": "load test"}`
	for _, tc := range []struct{ old, request, successor string }{
		{"RatioService/UpdateRatio", update, "OverrideService.UpdateOverride"},
		{"RatioService/BatchUpdateRatios", `{}`, "OverrideService.BatchUpdateOverrides"},
		{"RatioService/DeleteRatio", `{}`, "OverrideService.DeleteOverride"},
		{"RatioService/ListRatioChanges", `{}`, "OverrideService.ListOverrideChanges"},
		{"RatioService/RollbackRatios", `{}`, "OverrideService.RollbackOverrides"},
		{"ResizeService/Restore", hold, "HoldService.Restore"},
		{"ResizeService/GetStatus", `{}`, "StatusService.GetStatus"},
		{"PauseService/Pause", hold, "HoldService.Pause"},
		{"PauseService/Resume", hold, "HoldService.Resume"},
		{"PauseService/ListHolds", `{}`, "HoldService.ListHolds"},
		{"PauseService/Freeze", `{}`, "HoldService.Freeze"},
		{"PauseService/Unfreeze", `{}`, "HoldService.Unfreeze"},
		{"PauseService/GetFreeze", `{}`, "HoldService.GetFreeze"},
	} {
		t.Run(tc.old, func(t *testing.T) {
			code, answer := c.grpcurl(t, methodCall{method: tc.old, request: tc.request}, "-import-path", "testdata", "-proto", "old.proto")
			var got struct{ Message string }
			if err := json.Unmarshal([]byte(answer), &got); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(tc.old, "/", ".", 1) + " is now " + tc.successor + "; generate your client again from the current API"
			if code != "Unimplemented" || got.Message != want {
				t.Errorf("%s: %q, want %q", code, got.Message, want)
			}
		})
	}
}
