package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Prefix starts every annotation key of the contract.
const Prefix = "workload-resizer.io/"

// FieldManager owns the fields that the reconciler writes.
const FieldManager = "workload-resizer"

// AppLabel is the label whose value is AppName on workload-resizer's own pods.
const (
	AppLabel = "app.kubernetes.io/name"
	AppName  = "workload-resizer"
)

// Annotations of the pod as a whole.
const (
	// AppliedInstanceType is the node type that the pod was last sized for.
	AppliedInstanceType = Prefix + "applied-instance-type"
	// AppliedAt is the time of that resize, in RFC 3339.
	AppliedAt = Prefix + "applied-at"
	// AdoptedAt is the time when a size that another actor set was last adopted
	// (--externally-resized=adopt), in RFC 3339. Only a pod that has it has adopted any size: an adopted amount may also be
	// what a controller that raised cpu while the pod was being created sets it back to.
	AdoptedAt = Prefix + "adopted-at"
	// OriginalsBy names the field managers, separated by commas, whose originals are
	// trusted: they resized the pod before us, which our resize hides in managedFields.
	OriginalsBy = Prefix + "originals-by"
	// Infeasible is an answer to a resize that was not accepted: the time, who answered and the message. It is
	// the node's kubelet that refuses any size, or the API server that did not accept a plan.
	Infeasible = Prefix + "infeasible"
	// AppliedSizes is what the last resize changed: for each container, its restarts before and
	// its sizes before and after. Sizes from usage that the resize did not change have the time of their last change. A
	// resize that makes the pod worse is reverted to these.
	AppliedSizes = Prefix + "applied-sizes"
	// AppliedDemand is what the containers needed on the baseline according to usage when they were last sized. Only pods that
	// keep sizes from usage while they run (demand.mode: initial) depend on it.
	AppliedDemand = Prefix + "applied-demand"
	// Reverts is which resizes made the pod worse and were therefore reverted, as JSON.
	Reverts = Prefix + "reverted"
	// CreatedSizes is what the server did to the pod while it was being created: the node type, the time, the sizes before
	// and after, and the signature of a server that proves them.
	CreatedSizes = Prefix + "created-sizes"
	// Skip opts a pod out, unless its value is SkipFalse or empty.
	Skip = Prefix + "skip"
	// Mode is what happens to the pods of the target of a VerticalPodAutoscaler that has this annotation.
	Mode = Prefix + "mode"
	// SkipTrue and SkipFalse are the valid values of Skip.
	SkipTrue, SkipFalse = "true", "false"
)

// OriginalPrefix starts the keys of all originals, AdoptedPrefix the keys of all
// adopted amounts.
const (
	OriginalPrefix = Prefix + "original-"
	AdoptedPrefix  = Prefix + "adopted-"
)

// ResizeSubresource is the pod subresource that changes sizes.
const ResizeSubresource = "resize"

// IsOriginal reports whether the annotation key belongs to an original.
func IsOriginal(key string) bool { return strings.HasPrefix(key, OriginalPrefix) }

// Ours reports whether the reconciler writes the annotation with this key. Users write
// Skip.
func Ours(key string) bool {
	switch key {
	case AppliedInstanceType, AppliedAt, AdoptedAt, OriginalsBy, Infeasible, AppliedSizes, AppliedDemand, CreatedSizes, Reverts:
		return true
	}
	return IsOriginal(key) || strings.HasPrefix(key, AdoptedPrefix)
}

// maxName is the maximum length of the name part of an annotation key (the API server's
// rule for qualified names).
const maxName = 63

// Original identifies one of the originals of a container.
type Original int

const (
	// CPURequest is the cpu request that the container had before the first resize of
	// its pod. The values of all originals are Kubernetes quantities.
	CPURequest Original = iota
	// CPULimit is like CPURequest, for the cpu limit.
	CPULimit
	// MemoryRequest is like CPURequest, for the memory request.
	MemoryRequest
	// MemoryLimit is like CPURequest, for the memory limit.
	MemoryLimit
)

// OfRequest returns the original of the request of the same resource.
func (o Original) OfRequest() Original {
	if o == CPULimit || o == MemoryLimit {
		return o - 1
	}
	return o
}

// Originals lists all originals.
var Originals = [...]Original{CPURequest, CPULimit, MemoryRequest, MemoryLimit}

var (
	originalStems = [...]string{"original-cpu.", "original-cpu-limit.", "original-memory.", "original-memory-limit."}
	adoptedStems  = [...]string{"adopted-cpu.", "adopted-cpu-limit.", "adopted-memory.", "adopted-memory-limit."}
)

// Key returns the key of the annotation that holds the original of a container. Where
// the name part would exceed maxName, the container's name is truncated and followed by
// "_" and eight hexadecimal digits of its SHA-256. Container names cannot contain "_", so
// a shortened key never equals the full key of another container.
func (o Original) Key(container string) string { return key(originalStems[o], container) }

// In returns the value of Key in annotations, and whether it exists.
func (o Original) In(annotations map[string]string, container string) (value string, ok bool) {
	return lookup(annotations, originalStems[o], container)
}

// AdoptedKey returns the key of the annotation that holds the amount that another actor
// set for a container, and from which its original was computed. It is shortened like Key.
func (o Original) AdoptedKey(container string) string { return key(adoptedStems[o], container) }

// AdoptedIn is like In, for AdoptedKey.
func (o Original) AdoptedIn(annotations map[string]string, container string) (value string, ok bool) {
	return lookup(annotations, adoptedStems[o], container)
}

func key(stem, container string) string {
	if len(stem)+len(container) <= maxName {
		return Prefix + stem + container
	}
	sum := sha256.Sum256([]byte(container))
	tail := "_" + hex.EncodeToString(sum[:4])
	return Prefix + stem + container[:maxName-len(stem)-len(tail)] + tail
}

func lookup(annotations map[string]string, stem, container string) (value string, ok bool) {
	if len(annotations) == 0 {
		return "", false
	}
	if len(stem)+len(container) > maxName {
		value, ok = annotations[key(stem, container)]
		return value, ok
	}
	// Planning looks up many keys per pod, so the key is built in a buffer on the stack.
	var buffer [len(Prefix) + maxName]byte
	n := copy(buffer[:], Prefix)
	n += copy(buffer[n:], stem)
	n += copy(buffer[n:], container)
	value, ok = annotations[string(buffer[:n])]
	return value, ok
}
