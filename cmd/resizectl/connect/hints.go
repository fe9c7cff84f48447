package connect

import (
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
)

// Hints say what to do next, by the reason of the server's error. Reasons whose message says
// so itself are not here. For users who are not authenticated, see identityHint, which knows
// how they called.
var Hints = map[string]string{
	"STANDALONE":            "a standalone server only lists ratios and plans manifests (\"resizectl ratios list\", \"resizectl plan -f\"); for the rest, use the server of a cluster: set --context or --service, or its address with --server",
	"CACHE_NOT_READY":       "the server has just started: run the command again in a moment",
	"NODE_TYPE_UNKNOWN":     "\"resizectl ratios list\" lists the node types; \"resizectl ratios set --create\" adds a new one",
	"POD_NOT_FOUND":         "check its name and its namespace; \"resizectl plan --all-namespaces\" lists all pods",
	"NOT_RESIZED":           "\"resizectl explain POD\" shows why",
	"NAMESPACE_NOT_VISIBLE": "a RoleBinding in that namespace to the ClusterRole view allows it",
	"TOO_MANY_NAMESPACES":   "run the command again to continue, or set --namespace",
	"TOO_MANY_PREVIEWS":     "run the command again in a moment",
	"TABLE_CHANGED":         "run the command again in a moment",
	"PREVIEW_TOO_SLOW":      "write the output to a file first, and read the file",
	"HELD_BY_WIDER_SCOPE":   "\"resizectl holds\" lists the holds",
	"READ_ONLY":             "use a server that runs without --dry-run",
	"NO_OVERRIDE":           "\"resizectl ratios list\" shows the source of each ratio; with --ignore-not-found, this is not an error",
	"ETAG_MISMATCH":         "see the latest changes with \"resizectl ratios history\", and run the command again if your change is still right",
	"IMPLAUSIBLE_RATIO":     "to make the change anyway, set --allow-implausible: pods on node types that are not used keep their sizes",
	"CHANGE_NOT_KEPT":       "\"resizectl ratios history --limit 0\" lists the changes that are kept",
	"NO_SUGGESTION":         "\"resizectl benchmark suggest\" lists the suggestions, \"resizectl benchmark list\" the measurements",
	"BENCHMARKS_NOT_READY":  "\"resizectl ratios list\" shows what is wrong with the source benchmark; if the server has just started, run the command again in a moment",
	"USAGE_UNKNOWN":         "\"resizectl usage\" lists the workloads that have pods, and \"resizectl usage sources\" shows whether usage is collected",
	"SAMPLES_NOT_STORED":    "run the command again in a moment: samples that were stored are not counted twice",
}

// BothPerformances is the advice about a node type that no source names.
const BothPerformances = "set both performances, cpu and memory, as in TYPE=1.08/1.0"

// methodPath matches advice that names an API method, which does not help the user.
var methodPath = regexp.MustCompile(`(; [^;]*)? for /[\w.]+/\w+$`)

// RefusedBecause returns the server's message, and what to do next.
func RefusedBecause(err error) string {
	if missing := missingPerformance(err); missing != "" {
		return missing + "; " + BothPerformances
	}
	message := methodPath.ReplaceAllString(inWordsOfCLI(err), "")
	if hint, ok := Hints[client.Reason(err)]; ok {
		message += "; " + hint
	}
	return message
}

// missingPerformance returns the server's message about a node type without a ratio to take
// a performance from; empty if err is another error. The name of the field in the API would
// not help the user.
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
