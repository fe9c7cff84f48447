package safety

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// refusals lists what the API server says when it refuses a resize. All parts
// have to be in the message. The order is that of the checks, since a message
// may hold several refusals.
var refusals = [...]struct {
	reason contract.Reason
	parts  []string
}{
	{contract.StaticPod, []string{"static pods cannot be resized"}},
	{contract.WindowsPod, []string{"windows pods cannot be resized"}},
	{contract.ResizeUnsupported, []string{"node without support for resize"}},
	{contract.ResizeUnsupported, []string{"resize is only supported on linux nodes"}},
	{contract.ResizeUnsupported, []string{"pod update requires features"}},
	// Before 1.36, of init containers that are no sidecars.
	{contract.ResizeUnsupported, []string{"resources for non-sidecar init containers are immutable"}},
	{contract.PodLevelResources, []string{"pod-level resource"}},
	{contract.PodLevelResources, []string{"must be greater than or equal to aggregate container"}},
	{contract.PodLevelResources, []string{"must be less than or equal to pod limits of"}},
	{contract.PodLevelResources, []string{"only cpu and memory resources are mutable at pod-level"}},
	{contract.ResourceClaims, []string{"resource claims cannot be resized"}},
	// The server drops the claims of a container before it compares the rest. It
	// says the same where a LimitRange adds a default of another resource, which
	// Change has foreseen.
	{contract.ResourceClaims, []string{"only cpu and memory resources", "mutable"}},
	{contract.NodeNotFound, []string{`forbidden: node "`, `" not found`}},
	{contract.QOSClassChange, []string{"Pod QOS Class may not change"}},
	{contract.RestartRequired, []string{"init containers with a resize policy of RestartContainer"}},
	{contract.MemoryLimitKept, []string{"memory limits cannot be decreased"}},
	{contract.LimitRangeViolation, []string{"minimum ", " usage per "}},
	{contract.LimitRangeViolation, []string{"maximum ", " usage per "}},
	{contract.LimitRangeViolation, []string{"max limit to request ratio per "}},
	// We add no limit and set none below its request: a LimitRange did.
	{contract.LimitRangeViolation, []string{"memory limits cannot be added"}},
	{contract.LimitRangeViolation, []string{"must be less than or equal to ", " limit of "}},
	{contract.NodeCapacity, []string{"node didn't have enough allocatable resources"}},
	{contract.QuotaExceeded, []string{"exceeded quota: "}},
	{contract.QuotaExceeded, []string{"failed quota: "}},
	{contract.QuotaExceeded, []string{"status unknown for quota: "}},
	{contract.QuotaExceeded, []string{"insufficient quota to "}},
}

// Refusal returns the reason that the API server's own error message to a
// resize of cpu and memory comes to; false where it is none of ours.
func Refusal(message string) (contract.Reason, bool) {
	for i := range refusals {
		if containsAll(message, refusals[i].parts) {
			return refusals[i].reason, true
		}
	}
	return "", false
}

func containsAll(s string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}
