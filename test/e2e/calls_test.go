package e2e

import (
	"strings"
	"time"
)

// methodCalls are the calls of TestMethods, in order: later calls see the changes of earlier ones.
// The pod n4-0 is resized, n2d-0 is on the baseline, and x9-0 is on a node type without a ratio.
var methodCalls = []methodCall{
	{method: "RatioService/ListRatios", rule: "lists all ratios", request: `{}`},
	{method: "RatioService/ListRatios", rule: "lists a page", request: `{"page_size": 1}`},
	{method: "RatioService/ListRatios", rule: "caps the size of a page", request: `{"page_size": 1000000}`},
	{method: "RatioService/ListRatios", rule: "refuses the token of another list", request: `{"page_token": "other"}`},
	{method: "RatioService/GetRatio", rule: "returns a ratio", request: `{"node_type": "n4"}`},
	{method: "RatioService/GetRatio", rule: "returns a ratio of a rule", request: `{"node_type": "n4", "rule": "overrides[0] (critical)"}`},
	{method: "RatioService/GetRatio", rule: "refuses an unknown node type", request: `{"node_type": "x9"}`},
	{method: "RatioService/GetRatio", rule: "refuses an unknown rule", request: `{"node_type": "n4", "rule": "overrides[1] (none)"}`},
	{method: "RatioService/GetRatio", rule: "refuses a request without a node type", request: `{}`},
	{method: "RatioService/ListRatioRules", rule: "lists the rules, with what they set only", request: `{}`},
	{method: "RatioService/ListRatioRules", rule: "refuses a negative size of a page", request: `{"page_size": -1}`},
	{method: "RatioService/WatchRatios", rule: "sends the current ratios", request: `{}`},
	{method: "RatioService/WatchRatios", rule: "refuses a token that is none", request: `{"resume_token": "other"}`},
	{method: "RatioService/WatchRatios", rule: "refuses a caller without the right", request: `{}`, as: "nobody"},

	{method: "PlanService/PreviewPod", rule: "plans a pod", request: `{"namespace": "default", "pod": "n4-0"}`},
	{method: "PlanService/PreviewPod", rule: "plans a pod with an assumed ratio", request: `{"namespace": "default", "pod": "n4-0", "what_if": {"ratios": [{"node_type": "n4", "cpu_perf": 2}]}}`},
	{method: "PlanService/PreviewPod", rule: "explains why a pod is skipped", request: `{"namespace": "default", "pod": "x9-0"}`},
	{method: "PlanService/PreviewPod", rule: "refuses a pod that does not exist", request: `{"namespace": "default", "pod": "none"}`},
	{method: "PlanService/PreviewPod", rule: "refuses a pod that the caller cannot see", request: `{"namespace": "default", "pod": "n4-0"}`, as: "viewer"},
	{method: "PlanService/PreviewPlans", rule: "plans the pods that match", request: `{"namespace": "default", "node_type": "n4"}`},
	{method: "PlanService/PreviewPlans", rule: "refuses an invalid selector", request: `{"label_selector": "=="}`},
	{method: "PlanService/PreviewManifest", rule: "plans the pods of a manifest", request: `{"manifest": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n", "node_types": ["n4"]} {"manifest": "spec: {containers: [{name: app, image: none, resources: {requests: {cpu: 1}}}]}\n"}`},
	{method: "PlanService/PreviewManifest", rule: "refuses a manifest that is not one", request: `{"manifest": "kind: ["}`},

	{method: "ResizeService/ListResizes", rule: "lists the pods that were sized", request: `{"namespace": "default"}`},
	{method: "ResizeService/ListResizes", rule: "lists those in a state", request: `{"states": ["RESIZE_STATE_INFEASIBLE"]}`},
	{method: "ResizeService/ListResizes", rule: "refuses an unspecified state", request: `{"states": ["RESIZE_STATE_UNSPECIFIED"]}`},
	{method: "ResizeService/GetResize", rule: "returns how a pod was sized", request: `{"namespace": "default", "pod": "n4-0"}`},
	{method: "ResizeService/GetResize", rule: "refuses a pod that was not sized", request: `{"namespace": "default", "pod": "x9-0"}`},
	{method: "ResizeService/WatchResizes", rule: "sends the current resizes that match", request: `{"namespace": "default", "states": ["RESIZE_STATE_ACTUATED"]}`},
	{method: "ResizeService/WatchResizes", rule: "refuses a namespace that the caller cannot see", request: `{"namespace": "default"}`, as: "viewer"},

	{method: "StatusService/GetStatus", rule: "returns the state of the server", request: `{}`},
	{method: "StatusService/GetStatus", rule: "refuses a caller without the right", request: `{}`, as: "nobody"},

	{method: "OverrideService/UpdateOverride", rule: "validates a change, with its impact", request: `{"override": {"node_type": "n4", "cpu_perf": 2}, "allow_missing": true, "validate_only": true}`},
	{method: "OverrideService/UpdateOverride", rule: "creates an override", request: `{"override": {"node_type": "z3", "cpu_perf": 1.5, "memory_perf": 1}, "allow_missing": true, "allow_new_node_type": true, "reason": "measured", "author": "ann", "request_id": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}`},
	{method: "OverrideService/UpdateOverride", rule: "does not make the change of a request again", request: `{"override": {"node_type": "z3", "cpu_perf": 1.5, "memory_perf": 1}, "allow_missing": true, "allow_new_node_type": true, "reason": "measured", "author": "ann", "request_id": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}`},
	{method: "OverrideService/UpdateOverride", rule: "falls back to a permanent override", request: `{"override": {"node_type": "z3", "cpu_perf": 1.6, "expire_time": "2100-01-01T00:00:00Z"}}`},
	{method: "OverrideService/UpdateOverride", rule: "refuses a node type without an override", request: `{"override": {"node_type": "n4", "cpu_perf": 2}}`},
	{method: "OverrideService/UpdateOverride", rule: "refuses a node type without a ratio", request: `{"override": {"node_type": "y1", "cpu_perf": 2, "memory_perf": 1}, "allow_missing": true}`},
	{method: "OverrideService/UpdateOverride", rule: "refuses an etag that no longer matches", request: `{"override": {"node_type": "z3", "cpu_perf": 2, "etag": "old"}}`},
	{method: "OverrideService/UpdateOverride", rule: "refuses an etag of a ratio that no longer matches", request: `{"override": {"node_type": "z3", "cpu_perf": 2}, "ratio_etag": "old"}`},
	{method: "OverrideService/UpdateOverride", rule: "refuses a performance of 0", request: `{"override": {"node_type": "n4", "cpu_perf": 0}}`},
	{method: "OverrideService/UpdateOverride", rule: "refuses an implausible ratio", request: `{"override": {"node_type": "n4", "cpu_perf": 125}, "allow_missing": true}`},
	{method: "OverrideService/GetOverride", rule: "returns an override and what it falls back to", request: `{"node_type": "z3"}`},
	{method: "OverrideService/GetOverride", rule: "refuses a node type without an override", request: `{"node_type": "n4"}`},
	{method: "OverrideService/BatchUpdateOverrides", rule: "changes several overrides", request: `{"requests": [{"override": {"node_type": "z3", "cpu_perf": 1.7}}, {"override": {"node_type": "z4", "cpu_perf": 1.4, "memory_perf": 1}, "allow_missing": true, "allow_new_node_type": true}]}`},
	{method: "OverrideService/BatchUpdateOverrides", rule: "refuses two changes of one node type", request: `{"requests": [{"override": {"node_type": "z3", "cpu_perf": 2}}, {"override": {"node_type": "z3", "cpu_perf": 3}}]}`},
	{method: "OverrideService/ListOverrides", rule: "lists the overrides", request: `{}`},
	{method: "OverrideService/ListOverrides", rule: "refuses the token of another list", request: `{"page_token": "other"}`},
	{method: "OverrideService/DeleteOverride", rule: "deletes an override", request: `{"node_type": "z4", "reason": "not needed"}`},
	{method: "OverrideService/DeleteOverride", rule: "accepts that there is no override", request: `{"node_type": "z4", "allow_missing": true}`},
	{method: "OverrideService/DeleteOverride", rule: "refuses a node type without an override", request: `{"node_type": "z4"}`},
	{method: "OverrideService/RollbackOverrides", rule: "goes back to a change", request: `{"to_change": 1, "expected_newest_change": 4}`},
	{method: "OverrideService/RollbackOverrides", rule: "goes back to the state before the first change", request: `{"to_change": 0}`},
	{method: "OverrideService/RollbackOverrides", rule: "refuses if there is a newer change", request: `{"to_change": 1, "expected_newest_change": 2}`},
	{method: "OverrideService/RollbackOverrides", rule: "refuses a change that does not exist", request: `{"to_change": 100}`},
	{method: "OverrideService/RollbackOverrides", rule: "refuses a request without a change", request: `{}`},
	{method: "OverrideService/ListOverrideChanges", rule: "lists the changes, newest first", request: `{}`},
	{method: "OverrideService/ListOverrideChanges", rule: "refuses a caller without the right", request: `{}`, as: "nobody"},

	{method: "HoldService/Pause", rule: "pauses a pod", request: `{"scope": {"pod": {"namespace": "default", "name": "n4-0"}}, "reason": "load test", "author": "ann"}`},
	{method: "HoldService/Pause", rule: "validates a pause", request: `{"scope": {"namespace": "default"}, "ttl": "60s", "validate_only": true}`},
	{method: "HoldService/Pause", rule: "refuses an empty scope", request: `{"scope": {}}`},
	{method: "HoldService/Pause", rule: "refuses a request ID that is not a UUID", request: `{"scope": {"all_namespaces": {}}, "request_id": "1"}`},
	{method: "HoldService/Pause", rule: "refuses a caller without the right", request: `{"scope": {"all_namespaces": {}}}`, as: "viewer"},
	{method: "HoldService/Restore", rule: "restores a pod", request: `{"scope": {"pod": {"namespace": "default", "name": "x9-0"}}, "ttl": "3600s"}`},
	{method: "HoldService/Restore", rule: "refuses a pod that does not exist", request: `{"scope": {"pod": {"namespace": "default", "name": "none"}}}`},
	{method: "HoldService/Restore", rule: "refuses a kind that is not one", request: `{"scope": {"workload": {"namespace": "default", "kind": "deployment", "name": "web"}}}`},
	{method: "HoldService/GetHold", rule: "returns a hold and its progress", request: `{"scope": {"pod": {"namespace": "default", "name": "n4-0"}}, "kind": "HOLD_KIND_PAUSE"}`},
	{method: "HoldService/GetHold", rule: "refuses a hold that does not exist", request: `{"scope": {"namespace": "default"}, "kind": "HOLD_KIND_RESTORE"}`},
	{method: "HoldService/GetHold", rule: "refuses a request without a kind", request: `{"scope": {"namespace": "default"}}`},
	{method: "HoldService/ListHolds", rule: "lists the holds", request: `{}`},
	{method: "HoldService/ListHolds", rule: "refuses the token of another list", request: `{"page_token": "other"}`},
	{method: "HoldService/Resume", rule: "reports what would end", request: `{"scope": {"namespace": "default"}, "include_nested": true, "validate_only": true}`},
	{method: "HoldService/Resume", rule: "ends the holds of a namespace", request: `{"scope": {"namespace": "default"}, "include_nested": true}`},
	{method: "HoldService/Resume", rule: "refuses a request without a scope", request: `{}`},
	{method: "HoldService/Freeze", rule: "freezes the cluster", request: `{"reason": "outage", "author": "ann"}`},
	{method: "HoldService/Freeze", rule: "refuses a reason of two lines", request: `{"reason": "outage\nagain"}`},
	{method: "HoldService/GetFreeze", rule: "returns the freeze", request: `{}`},
	{method: "HoldService/GetFreeze", rule: "refuses a caller without the right", request: `{}`, as: "nobody"},
	{method: "HoldService/Unfreeze", rule: "ends the freeze", request: `{}`},
	{method: "HoldService/Unfreeze", rule: "accepts that the cluster is not frozen", request: `{}`},
	{method: "HoldService/Unfreeze", rule: "refuses a caller without the right", request: `{}`, as: "viewer"},

	{method: "BenchmarkService/IngestSamples", rule: "stores samples, and reports those that are not valid", request: sampled("a", "n2d", "100") + sampled("b", "n4", "100") + sampled("c", "n4", "0")},
	{method: "BenchmarkService/IngestSamples", rule: "does not count samples again", request: sampled("a", "n2d", "100")},
	{method: "BenchmarkService/IngestSamples", rule: "refuses a caller without the right", request: sampled("a", "n2d", "100"), as: "viewer"},
	{method: "BenchmarkService/ListBenchmarks", rule: "lists the benchmarks", request: `{}`},
	{method: "BenchmarkService/ListBenchmarks", rule: "refuses the token of another list", request: `{"page_token": "other"}`},
	{method: "BenchmarkService/ListFeeds", rule: "lists the feeds, of which there are none", request: `{}`},
	{method: "BenchmarkService/ListFeeds", rule: "refuses a negative size of a page", request: `{"page_size": -1}`},
	{method: "BenchmarkService/GetSuggestion", rule: "returns a suggestion without an interval", request: `{"node_type": "n4"}`},
	{method: "BenchmarkService/GetSuggestion", rule: "refuses a node type without benchmarks", request: `{"node_type": "x9"}`},
	{method: "BenchmarkService/ListSuggestions", rule: "lists the suggestions", request: `{}`},
	{method: "BenchmarkService/ListSuggestions", rule: "refuses the token of another list", request: `{"page_token": "other"}`},
}

// sampled returns a request with one sample, measured now.
func sampled(id, nodeType, score string) string {
	return strings.NewReplacer("ID", id, "TYPE", nodeType, "SCORE", score, "NOW", time.Now().UTC().Format(time.RFC3339)).Replace(
		`{"samples": [{"id": "ID", "node_type": "TYPE", "machine": "m-ID", "benchmark": "coremark", "score": SCORE, "vcpus": 8, "threads": 8, "measure_time": "NOW"}]}`)
}
