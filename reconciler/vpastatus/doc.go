// Package vpastatus writes the status of VerticalPodAutoscalers that name workload-resizer: what their targets need, or why
// they count for nothing. Only the leader writes, and no more often than Rate.
//
// It is the only code that writes VerticalPodAutoscalers, and must not know how a status follows.
package vpastatus
