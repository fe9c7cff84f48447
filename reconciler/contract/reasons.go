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
	// InvalidAnnotation: an annotation of the contract cannot be read, so the
	// originals are not known.
	InvalidAnnotation Reason = "InvalidAnnotation"
	// QOSClassChange: the resize would change the pod's QoS class, which the
	// API server forbids.
	QOSClassChange Reason = "QOSClassChange"
)

// Why part of a pod is left alone while the rest is resized.
const (
	// RestartRequired: a resource's resizePolicy would restart the container.
	RestartRequired Reason = "RestartRequired"
	// MemoryLimitKept: this cluster does not let memory limits shrink.
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
	{Resized, Normal, "The pod has the requests and limits of its node type now."},
	{AlreadyAligned, Normal, "The pod has what it should have without a resize."},
	{BoundsClamped, Normal, "A bound of the configuration decided a request instead of the ratio."},
	{ResizeFailed, Warning, "The API server refused or failed a write; it is tried again with growing pauses."},
	{ResizeUnsupported, Warning, "The API server or the node cannot resize this pod in place."},
	{NotScheduled, Silent, "The pod has no node yet."},
	{NotOwned, Silent, "The pod has no controller of a kind that is resized (`--owner-kinds`)."},
	{OptedOut, Silent, "The pod carries `workload-resizer.io/skip: \"true\"`."},
	{Terminating, Silent, "The pod is being deleted."},
	{Finished, Silent, "The pod has succeeded or failed."},
	{NotRunning, Silent, "The pod has not started yet."},
	{StaticPod, Silent, "The kubelet owns the pod; the API server only mirrors it."},
	{OwnPod, Silent, "The pod is one of workload-resizer's own."},
	{NoRequests, Silent, "No container asks for cpu or memory, so there is nothing to scale."},
	{NodeNotFound, Silent, "The pod's node is not known."},
	{NodeTypeUnlabelled, Warning, "No label of the node tells its type."},
	{UnknownNodeType, Warning, "The node's type has no ratio."},
	{InvalidAnnotation, Warning, "An annotation of the contract cannot be read, so the originals are not known."},
	{QOSClassChange, Warning, "The resize would change the pod's QoS class, which the API server forbids."},
	{RestartRequired, Normal, "A resource is left as it is because its resizePolicy would restart the container."},
	{MemoryLimitKept, Normal, "A memory limit is left as it is because this cluster does not let it shrink."},
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
