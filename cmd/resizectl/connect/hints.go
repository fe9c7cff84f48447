package connect

import (
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
)

// Hints say what to do next, by the reason of the server's error. Those whose
// message says it are not here, and who has to say who they are is told by
// connection.identityHint, which knows how they asked.
var Hints = map[string]string{
	"STANDALONE":            "ask the server of a cluster with --context or --service, or at its address with --server",
	"CACHE_NOT_READY":       "the server has only begun: run the command again in a moment",
	"NODE_TYPE_UNKNOWN":     "\"resizectl ratios list\" lists the node types; \"resizectl ratios set\" takes a new one with --create",
	"POD_NOT_FOUND":         "the pod may be in another namespace: name that with --namespace",
	"NOT_RESIZED":           "\"resizectl explain\" tells why",
	"NAMESPACE_NOT_VISIBLE": "a RoleBinding in that namespace to the ClusterRole view allows it",
	"TOO_MANY_PREVIEWS":     "run the command again in a moment",
	"PREVIEW_TOO_SLOW":      "write it to a file first, and read that",
	"HELD_BY_WIDER_SCOPE":   "\"resizectl holds\" lists what is held",
	"READ_ONLY":             "ask a server that runs without --dry-run",
	"NO_OVERRIDE":           "\"resizectl ratios list\" lists which source decides; with --ignore-not-found this is no error",
	"ETAG_MISMATCH":         "see what is there now with \"resizectl ratios history\", and run the command again if it is still right",
	"CHANGE_NOT_KEPT":       "\"resizectl ratios history --limit 0\" lists those that are kept",
	"NO_SUGGESTION":         "\"resizectl benchmark suggest\" lists the suggestions, \"resizectl benchmark list\" what was measured",
	"BENCHMARKS_NOT_READY":  "\"resizectl ratios list\" tells what is wrong with the source benchmark; if the server has only begun, run the command again in a moment",
	"SAMPLES_NOT_STORED":    "run the command again in a moment: samples that were stored are not counted twice",
}

// BothPerformances is what to do about a node type that no source names.
const BothPerformances = "give both performances, cpu and memory, such as n4=1.08/1.0"

// methodPath is advice that names a method, which says nothing to people.
var methodPath = regexp.MustCompile(`(; [^;]*)? for /[\w.]+/\w+$`)

// RefusedBecause is what the server says, in its words, and what to do next.
func RefusedBecause(err error) string {
	if missing := missingPerformance(err); missing != "" {
		return missing + "\n" + BothPerformances
	}
	message := methodPath.ReplaceAllString(MessageOf(err), "")
	if hint, ok := Hints[client.Reason(err)]; ok {
		message += "\n" + hint
	}
	return message
}

// missingPerformance is what the server says of a node type that has no ratio to
// take a performance from; empty if that is not what is wrong. The name of the
// field in the API would say nothing to people.
func missingPerformance(err error) string {
	for _, detail := range status.Convert(err).Details() {
		request, ok := detail.(*errdetails.BadRequest)
		if !ok {
			continue
		}
		for _, violation := range request.GetFieldViolations() {
			says, missing := strings.CutPrefix(violation.GetDescription(), "must be set: ")
			if missing && strings.HasSuffix(violation.GetField(), "_perf") {
				return says
			}
		}
	}
	return ""
}
