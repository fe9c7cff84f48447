// Package safety has the vetoes: why a pod must be skipped, or must not get its desired
// size.
//
// Each veto comes from a pure check with one reason of the contract. The checks run in a
// fixed order, and the user sees the first veto.
//
//  1. Scope, for any size: NotScheduled, StaticPod, NotOwned, Terminating,
//     Finished, OptedOut, Frozen, Paused, NotRunning, OwnPod, WindowsPod, NoRequests,
//     ResizeUnsupported, PodLevelResources, ResourceClaims, ActiveVPA.
//  2. The planner: NodeNotFound, NodeTypeUnlabelled, UnknownNodeType,
//     ImplausibleRatio; then earlier attempts: ResizeInfeasible or ResizeError (refused),
//     ResizeInProgress, ResizeDeferred, AwaitingReadiness.
//  3. Change, for the desired size: QOSClassChange, LimitRangeViolation, ResizeInfeasible,
//     NodePressure, NodeCapacity, QuotaExceeded.
//  4. The planner, for parts that stay while the rest is resized: ExternallyResized,
//     InvalidAnnotation, RestartRequired, MemoryLimitKept, Reverted,
//     SingletonLimitKept, LoweredInSteps, WaitingForCanary, CanaryReverted, WaitingForOthers,
//     DisruptionBudget.
//  5. The planner, if the rest agrees: OutsideSchedule.
//
// The checks predict what the API server would reject, by its rules in Kubernetes 1.36. The
// API server decides: Refusal maps its messages to the same reasons. Data that a snapshot
// lacks causes no veto.
//
// A resize that only lowers requests needs neither room nor quota. Checking it costs nothing
// if the namespace has no LimitRange or ResourceQuota.
//
// The package must not depend on clients or the time, and never changes its input.
package safety
