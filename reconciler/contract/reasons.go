package contract

// Reason says in one word what happened to a pod or why it was skipped. Plans, the API,
// events and metrics use the same word.
type Reason string

// Outcomes for a pod. The event reasons of the published controller keep their names and
// meanings.
const (
	// Resized: the pod now has the requests and limits for its node type.
	Resized Reason = "Resized"
	// AlreadyAligned: the pod has its desired size.
	AlreadyAligned Reason = "AlreadyAligned"
	// BoundsClamped: a bound of the configuration, not the ratio, determined a request.
	BoundsClamped Reason = "BoundsClamped"
	// ResizeFailed: the API server rejected a write, or the write failed.
	ResizeFailed Reason = "ResizeFailed"
	// ResizeUnsupported: the API server or the node cannot resize in place.
	ResizeUnsupported Reason = "ResizeUnsupported"
	// Restored: the pod has its originals again and keeps them.
	Restored Reason = "Restored"
	// Reverted: a resize made the pod worse, so the resource that it lowered has its former
	// size again and keeps it.
	Reverted Reason = "Reverted"
	// RevertBlocked: a resize made the pod worse, but cannot be reverted now.
	RevertBlocked Reason = "RevertBlocked"
)

// Evicted: the pod was evicted, because its node has no room for what it needs and another node has.
const Evicted Reason = "Evicted"

// The status of a resize on the node.
const (
	// ResizeActuated: the containers run with the requests and limits in the pod's spec.
	ResizeActuated Reason = "ResizeActuated"
	// ResizeInProgress: the node has accepted the resize but not completed it.
	ResizeInProgress Reason = "ResizeInProgress"
	// ResizeDeferred: the node has no room for the resize now and retries it.
	ResizeDeferred Reason = "ResizeDeferred"
	// ResizeInfeasible: the node can never satisfy the resize.
	ResizeInfeasible Reason = "ResizeInfeasible"
	// ResizeError: the node accepted the resize but cannot complete it.
	ResizeError Reason = "ResizeError"
)

// Why a pod is skipped.
const (
	// NotScheduled: the pod has no node yet.
	NotScheduled Reason = "NotScheduled"
	// NotOwned: the pod has no controller of a kind that is resized.
	NotOwned Reason = "NotOwned"
	// OptedOut: the pod has the skip annotation.
	OptedOut Reason = "OptedOut"
	// Terminating: the pod is being deleted.
	Terminating Reason = "Terminating"
	// Finished: the pod has succeeded or failed.
	Finished Reason = "Finished"
	// NotRunning: the pod has not started yet.
	NotRunning Reason = "NotRunning"
	// StaticPod: the kubelet owns the pod; the API server only mirrors it.
	StaticPod Reason = "StaticPod"
	// WindowsPod: Windows pods cannot be resized.
	WindowsPod Reason = "WindowsPod"
	// OwnPod: the pod is one of workload-resizer's own.
	OwnPod Reason = "OwnPod"
	// NoRequests: no container requests cpu or memory, so there is nothing to scale
	// (BestEffort pods are never resizable).
	NoRequests Reason = "NoRequests"
	// NodeNotFound: the pod's node is unknown.
	NodeNotFound Reason = "NodeNotFound"
	// NodeTypeUnlabelled: no label of the node names its type.
	NodeTypeUnlabelled Reason = "NodeTypeUnlabelled"
	// UnknownNodeType: the node's type has no ratio.
	UnknownNodeType Reason = "UnknownNodeType"
	// ImplausibleRatio: the node's type would be faster or slower than the baseline by more
	// than maxSpeedRatio.
	ImplausibleRatio Reason = "ImplausibleRatio"
	// InvalidAnnotation: an original is missing, unreadable or not trustworthy.
	InvalidAnnotation Reason = "InvalidAnnotation"
	// QOSClassChange: the resize would change the pod's QoS class, which the
	// API server forbids.
	QOSClassChange Reason = "QOSClassChange"
	// PodLevelResources: the pod has pod-level resources, which take precedence over the
	// resources of its containers.
	PodLevelResources Reason = "PodLevelResources"
	// ResourceClaims: the API server rejects every resize of a pod whose containers use
	// resource claims.
	ResourceClaims Reason = "ResourceClaims"
	// NodeCapacity: the node has no room for the increase.
	NodeCapacity Reason = "NodeCapacity"
	// NodePressure: the node is under pressure, so nothing is increased.
	NodePressure Reason = "NodePressure"
	// LimitRangeViolation: a LimitRange of the namespace forbids the sizes, or would
	// change them.
	LimitRangeViolation Reason = "LimitRangeViolation"
	// QuotaExceeded: a ResourceQuota of the namespace has no room for the
	// increase.
	QuotaExceeded Reason = "QuotaExceeded"
	// ActiveVPA: a VerticalPodAutoscaler sizes the same workload.
	ActiveVPA Reason = "ActiveVPA"
	// ExternallyResized: another actor set a request or limit of the pod.
	ExternallyResized Reason = "ExternallyResized"
	// Frozen: the cluster is frozen, which outranks every restore and pause.
	Frozen Reason = "Frozen"
	// Paused: resizing is paused for the pod.
	Paused Reason = "Paused"
	// Degraded: resizes of the workload, or of the cluster, made too many pods worse.
	Degraded Reason = "Degraded"
	// OutsideSchedule: the pod is resized at other times.
	OutsideSchedule Reason = "OutsideSchedule"
	// AwaitingReadiness: the pod became unready after its last resize, which may be reverted.
	AwaitingReadiness Reason = "AwaitingReadiness"
	// WaitingForProof: a smaller size must prove itself first, on this pod or on others.
	WaitingForProof Reason = "WaitingForProof"
	// CanaryReverted: the smaller size made another pod of the same version of the workload worse.
	CanaryReverted Reason = "CanaryReverted"
	// DisruptionBudget: a PodDisruptionBudget does not let the pod be disrupted.
	DisruptionBudget Reason = "DisruptionBudget"
)

// Why a pod that nothing prevents from being resized was not resized yet. Only previews know it.
const (
	// WaitingForTurn: pods that can wait are resized at the configured pace.
	WaitingForTurn Reason = "WaitingForTurn"
)

// These reasons do not prevent a resize, but users should know them.
const (
	// HPAUtilization: a HorizontalPodAutoscaler measures utilization as a percentage of
	// the requests that are resized, so that usage does not determine these requests.
	HPAUtilization Reason = "HPAUtilization"
	// DemandExceedsNodes: a container needs more than any node has, according to usage.
	DemandExceedsNodes Reason = "DemandExceedsNodes"
	// StartupBoost: the cpu of a container is raised because its pod starts, or no longer is.
	StartupBoost Reason = "StartupBoost"
	// AnnotationIgnored: an annotation contradicts the spec of the pod, which takes precedence, or is not valid.
	AnnotationIgnored Reason = "AnnotationIgnored"
	// NotMeasured: it is not known how the pod fares since its last resize.
	NotMeasured Reason = "NotMeasured"
)

// Why part of a pod stays unchanged while the rest is resized.
const (
	// RestartRequired: a resource's resizePolicy would restart the container.
	RestartRequired Reason = "RestartRequired"
	// MemoryLimitKept: the API server or the node's kubelet cannot lower memory limits
	// safely.
	MemoryLimitKept Reason = "MemoryLimitKept"
)

// Reasons of events on the configuration's ConfigMap.
const (
	// InvalidConfig: the content was rejected; the last good configuration stays in effect.
	InvalidConfig Reason = "InvalidConfig"
)
