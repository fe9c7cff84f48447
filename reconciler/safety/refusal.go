package safety

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// refusals lists the API server's messages for rejected resizes. A message must contain all
// parts. The order is the order of the checks, because a message may contain several
// refusals.
var refusals = [...]struct {
	reason contract.Reason
	parts  []string
}{
	{contract.StaticPod, []string{"static pods cannot be resized"}},
	{contract.WindowsPod, []string{"windows pods cannot be resized"}},
	{contract.ResizeUnsupported, []string{"node without support for resize"}},
	{contract.ResizeUnsupported, []string{"resize is only supported on linux nodes"}},
	{contract.ResizeUnsupported, []string{"pod update requires features"}},
	// Before 1.36, for init containers that are not sidecars.
	{contract.ResizeUnsupported, []string{"resources for non-sidecar init containers are immutable"}},
	{contract.PodLevelResources, []string{"pod-level resource"}},
	{contract.PodLevelResources, []string{"must be greater than or equal to aggregate container"}},
	{contract.PodLevelResources, []string{"must be less than or equal to pod limits of"}},
	{contract.PodLevelResources, []string{"only cpu and memory resources are mutable at pod-level"}},
	{contract.ResourceClaims, []string{"resource claims cannot be resized"}},
	// The API server drops the claims of a container before it compares the rest. The message
	// is the same if a LimitRange adds a default of another resource, which Change vetoes
	// first.
	{contract.ResourceClaims, []string{"only cpu and memory resources", "mutable"}},
	{contract.NodeNotFound, []string{`forbidden: node "`, `" not found`}},
	{contract.QOSClassChange, []string{"Pod QOS Class may not change"}},
	{contract.RestartRequired, []string{"init containers with a resize policy of RestartContainer"}},
	{contract.MemoryLimitKept, []string{"memory limits cannot be decreased"}},
	{contract.LimitRangeViolation, []string{"minimum ", " usage per "}},
	{contract.LimitRangeViolation, []string{"maximum ", " usage per "}},
	{contract.LimitRangeViolation, []string{"max limit to request ratio per "}},
	// We neither add a limit nor set one below its request: a LimitRange did.
	{contract.LimitRangeViolation, []string{"memory limits cannot be added"}},
	{contract.LimitRangeViolation, []string{"must be less than or equal to ", " limit of "}},
	{contract.NodeCapacity, []string{"node didn't have enough allocatable resources"}},
	{contract.QuotaExceeded, []string{"exceeded quota: "}},
	{contract.QuotaExceeded, []string{"failed quota: "}},
	{contract.QuotaExceeded, []string{"status unknown for quota: "}},
	{contract.QuotaExceeded, []string{"insufficient quota to "}},
}

// Refusal returns the reason for an error message of the API server about a resize of cpu and
// memory; false if no reason matches.
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
