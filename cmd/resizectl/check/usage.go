package check

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// usageSources reports what is wrong with the sources of usage and the storage of history. A server that
// is too old to have them has no such check.
func (s *subject) usageSources() []Result {
	const check = "usage-sources"
	switch {
	case status.Code(s.usageErr) == codes.Unimplemented:
		return nil
	case client.Reason(s.usageErr) == "USAGE_DISABLED":
		return []Result{ok(check, "usage is not collected: the server has no --usage-sources")}
	case s.usageErr != nil:
		return []Result{warning(check, "ask an administrator of the cluster to run this command, or for the right", "the sources of usage: not checked: %s", connect.MessageOf(s.usageErr))}
	}
	var found []Result
	for _, problem := range print.UsageProblems(s.usage) {
		remedy := problem.Remedy
		if remedy == "" {
			remedy = "see its state with \"resizectl usage sources\" (docs/design/usage.md)"
		}
		found = append(found, warning(check, remedy, "%s", problem.Message))
	}
	for _, source := range s.usage.GetSources() {
		switch {
		case source.GetMessage() != "":
		case !s.usage.GetCollecting():
			found = append(found, ok(check, "usage is collected from %s by the leader, which is not the replica that answers", source.GetName()))
		case source.GetReadTime() == nil:
			found = append(found, ok(check, "usage is collected from %s: nothing was read yet", source.GetName()))
		default:
			found = append(found, ok(check, "usage is collected from %s, and was read until %s", source.GetName(), print.Timestamp(source.GetReadTime())))
		}
	}
	return found
}
