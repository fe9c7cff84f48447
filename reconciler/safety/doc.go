// Package safety holds the vetoes: why a pod must be left alone, or must not
// get the sizes that it should have.
//
// Each veto is a pure check with one reason of the contract. Their order is the
// order in which people are told: the first veto is the answer.
//
//  1. Scope, whatever the sizes: NotScheduled, StaticPod, NotOwned, Terminating,
//     Finished, OptedOut, Paused, NotRunning, OwnPod, WindowsPod, NoRequests,
//     ResizeUnsupported, PodLevelResources, ResourceClaims, ActiveVPA.
//  2. The planner's own: NodeNotFound, NodeTypeUnlabelled, UnknownNodeType;
//     then what was tried before: ResizeInfeasible or ResizeError (refused),
//     ResizeInProgress, ResizeDeferred.
//  3. Change, with the sizes: QOSClassChange, LimitRangeViolation, ResizeInfeasible,
//     NodePressure, NodeCapacity, QuotaExceeded.
//  4. The planner's own, what stays while the rest is done: ExternallyResized,
//     InvalidAnnotation, RestartRequired, MemoryLimitKept.
//
// What the API server would refuse is told before it is asked, by its own rules
// of Kubernetes 1.36. It has the last word: Refusal turns its messages into the
// same reasons. What a snapshot lacks vetoes nothing.
//
// A resize that takes less asks neither for room nor for quota, and costs
// nothing to check where the namespace has no LimitRange or ResourceQuota.
//
// It must not know clients nor the time, and never changes what it looks at.
package safety
