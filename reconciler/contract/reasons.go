package contract

// Reason says in one word what was done with a pod or why it was left alone.
// The same word stands in plans, in the API, on events and on metrics.
type Reason string

// What was done with a pod. The event reasons of the published controller keep
// their names and meanings.
const (
	// Resized: the pod has the requests and limits of its node type now.
	Resized Reason = "Resized"
	// AlreadyAligned: the pod has what it should have without a resize.
	AlreadyAligned Reason = "AlreadyAligned"
	// BoundsClamped: a bound of the configuration decided a request instead of
	// the ratio.
	BoundsClamped Reason = "BoundsClamped"
	// ResizeFailed: the API server refused or failed a write.
	ResizeFailed Reason = "ResizeFailed"
	// ResizeUnsupported: the API server or the node cannot resize in place.
	ResizeUnsupported Reason = "ResizeUnsupported"
	// Restored: the pod has its originals again and is kept so.
	Restored Reason = "Restored"
)

// What the node made of a resize.
const (
	// ResizeActuated: the containers run with what the pod asks for.
	ResizeActuated Reason = "ResizeActuated"
	// ResizeInProgress: the node has taken the resize on and is not done.
	ResizeInProgress Reason = "ResizeInProgress"
	// ResizeDeferred: the node has no room for the resize now and tries again.
	ResizeDeferred Reason = "ResizeDeferred"
	// ResizeInfeasible: the node can never carry the resize out.
	ResizeInfeasible Reason = "ResizeInfeasible"
	// ResizeError: the node fails to carry the resize out.
	ResizeError Reason = "ResizeError"
)

// Why a pod is left alone.
const (
	// NotScheduled: the pod has no node yet.
	NotScheduled Reason = "NotScheduled"
	// NotOwned: the pod has no controller of a kind that is resized.
	NotOwned Reason = "NotOwned"
	// OptedOut: the pod carries the skip annotation.
	OptedOut Reason = "OptedOut"
	// Terminating: the pod is being deleted.
	Terminating Reason = "Terminating"
	// Finished: the pod has succeeded or failed.
	Finished Reason = "Finished"
	// NotRunning: the pod has not started yet.
	NotRunning Reason = "NotRunning"
	// StaticPod: the kubelet owns the pod, the API server only mirrors it.
	StaticPod Reason = "StaticPod"
	// WindowsPod: pods of Windows cannot be resized.
	WindowsPod Reason = "WindowsPod"
	// OwnPod: the pod is one of workload-resizer's own.
	OwnPod Reason = "OwnPod"
	// NoRequests: no container asks for cpu or memory, so there is nothing to
	// scale (BestEffort pods are never resizable).
	NoRequests Reason = "NoRequests"
	// NodeNotFound: the pod's node is not known.
	NodeNotFound Reason = "NodeNotFound"
	// NodeTypeUnlabelled: no label of the node tells its type.
	NodeTypeUnlabelled Reason = "NodeTypeUnlabelled"
	// UnknownNodeType: the node's type has no ratio.
	UnknownNodeType Reason = "UnknownNodeType"
	// InvalidAnnotation: an original is missing, cannot be read or cannot be
	// believed.
	InvalidAnnotation Reason = "InvalidAnnotation"
	// QOSClassChange: the resize would change the pod's QoS class, which the
	// API server forbids.
	QOSClassChange Reason = "QOSClassChange"
	// PodLevelResources: the pod has resources as a whole, which decide
	// instead of those of its containers.
	PodLevelResources Reason = "PodLevelResources"
	// ResourceClaims: the API server refuses every resize of a pod whose
	// containers use resource claims.
	ResourceClaims Reason = "ResourceClaims"
	// NodeCapacity: the node has no room for the increase.
	NodeCapacity Reason = "NodeCapacity"
	// NodePressure: the node is under pressure, so nothing is increased.
	NodePressure Reason = "NodePressure"
	// LimitRangeViolation: a LimitRange of the namespace refuses the sizes, or
	// would change them.
	LimitRangeViolation Reason = "LimitRangeViolation"
	// QuotaExceeded: a ResourceQuota of the namespace has no room for the
	// increase.
	QuotaExceeded Reason = "QuotaExceeded"
	// ActiveVPA: a VerticalPodAutoscaler sizes the same workload.
	ActiveVPA Reason = "ActiveVPA"
	// ExternallyResized: somebody else set a size of the pod.
	ExternallyResized Reason = "ExternallyResized"
	// Paused: resizing is paused here.
	Paused Reason = "Paused"
)

// What people have to know of a pod that is resized all the same.
const (
	// HPAUtilization: a HorizontalPodAutoscaler counts utilisation in shares
	// of the requests that are resized.
	HPAUtilization Reason = "HPAUtilization"
	// AnnotationIgnored: an annotation contradicts the pod's spec, which
	// counts.
	AnnotationIgnored Reason = "AnnotationIgnored"
)

// Why part of a pod is left alone while the rest is resized.
const (
	// RestartRequired: a resource's resizePolicy would restart the container.
	RestartRequired Reason = "RestartRequired"
	// MemoryLimitKept: the API server or the node's kubelet does not let memory
	// limits shrink safely.
	MemoryLimitKept Reason = "MemoryLimitKept"
)

// Reasons of events on the configuration's ConfigMap.
const (
	// InvalidConfig: the content was rejected and the last good one is kept.
	InvalidConfig Reason = "InvalidConfig"
)

// Severity says whether and how a reason becomes an event on the pod.
type Severity int

const (
	// Silent reasons are expected on most pods of a cluster; they show in
	// plans and metrics only.
	Silent Severity = iota
	// Normal reasons become events of type Normal.
	Normal
	// Warning reasons become events of type Warning.
	Warning
)

// Info documents a reason.
type Info struct {
	Reason   Reason
	Severity Severity
	// Meaning is the text of the reference.
	Meaning string
}

var reasons = []Info{
	{Resized, Normal, "The pod was given the requests and limits of its node type, or those that the message names."},
	{AlreadyAligned, Normal, "The pod has what it should have without a resize."},
	{BoundsClamped, Normal, "A bound of the configuration decided a request instead of the ratio."},
	{ResizeFailed, Warning, "The API server refused or failed a write; it is tried again with growing pauses."},
	{ResizeUnsupported, Warning, "The API server or the node cannot resize this pod in place."},
	{Restored, Normal, "The pod has its originals again, or never had other sizes, and is kept so until its restore is ended (`resizectl resume`)."},
	{ResizeActuated, Silent, "The containers run with what the pod asks for."},
	{ResizeInProgress, Silent, "The node has taken the resize on and is not done."},
	{ResizeDeferred, Normal, "The node has no room for the resize now; it tries again by itself."},
	{ResizeInfeasible, Warning, "The node can never carry the resize out; the pod is put back, and the same is tried again when the pod, its node or its ratio changes, or after a day."},
	{ResizeError, Warning, "The node fails to carry the resize out; what blocks the pod is put back, and tried again after growing pauses."},
	{NotScheduled, Silent, "The pod has no node yet."},
	{NotOwned, Silent, "The pod has no controller of a kind that is resized (`--owner-kinds`)."},
	{OptedOut, Silent, "The pod carries `workload-resizer.io/skip: \"true\"`."},
	{Terminating, Silent, "The pod is being deleted."},
	{Finished, Silent, "The pod has succeeded or failed."},
	{NotRunning, Silent, "The pod has not started yet."},
	{StaticPod, Silent, "The kubelet owns the pod; the API server only mirrors it."},
	{WindowsPod, Silent, "Pods of Windows cannot be resized in place."},
	{OwnPod, Silent, "The pod is one of workload-resizer's own."},
	{NoRequests, Silent, "No container asks for cpu or memory, so there is nothing to scale."},
	{NodeNotFound, Silent, "The pod's node is not known."},
	{NodeTypeUnlabelled, Warning, "No label of the node tells its type."},
	{UnknownNodeType, Warning, "The node's type has no ratio."},
	{InvalidAnnotation, Warning, "An original is missing, cannot be read or cannot be believed; what it is about is left as it is."},
	{QOSClassChange, Warning, "The resize would change the pod's QoS class, which the API server forbids."},
	{PodLevelResources, Warning, "The pod has resources as a whole (`spec.resources`), which decide instead of those of its containers."},
	{ResourceClaims, Warning, "The API server refuses every resize of a pod whose containers use resource claims."},
	{NodeCapacity, Warning, "The node has no room for the increase beside its other pods; it is tried again when there is."},
	{NodePressure, Warning, "The node is under pressure, so nothing is increased until that is over."},
	{LimitRangeViolation, Warning, "A LimitRange of the namespace refuses the sizes, or would add requests or limits of its own to them."},
	{QuotaExceeded, Warning, "A ResourceQuota of the namespace has no room for the increase; it is tried again when there is."},
	{ActiveVPA, Normal, "A VerticalPodAutoscaler sizes the same workload, and two would fight."},
	{ExternallyResized, Normal, "Somebody else set a size of the pod, which stays (`--externally-resized` says what then)."},
	{Paused, Silent, "Resizing is paused here (`resizectl resume` ends that)."},
	{HPAUtilization, Silent, "A HorizontalPodAutoscaler scales the workload by utilisation, which is a share of the requests: it sees a higher one after a decrease, a lower one after an increase."},
	{AnnotationIgnored, Warning, "An annotation with an original contradicts the pod's spec; the spec counts."},
	{RestartRequired, Normal, "A resource is left as it is because its resizePolicy would restart the container."},
	{MemoryLimitKept, Normal, "A memory limit is left as it is because the API server or the node's kubelet (before Kubernetes 1.34) does not let it shrink safely."},
	{InvalidConfig, Warning, "On the ConfigMap: its content was rejected and the last good one is kept."},
}

// Reasons lists every reason in the order of the reference. The caller may keep
// and change the slice.
func Reasons() []Info { return append([]Info(nil), reasons...) }

// Severity of the reason; Silent for one that is not part of the contract.
func (r Reason) Severity() Severity {
	for _, info := range reasons {
		if info.Reason == r {
			return info.Severity
		}
	}
	return Silent
}
