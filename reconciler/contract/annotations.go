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
	// AppliedInstanceType is the node type that the pod was last sized for. It is written only when nothing waits for room, a
	// quota, a LimitRange or the node: until then, the pod is partly sized.
	AppliedInstanceType = Prefix + "applied-instance-type"
	// AppliedAt is when that was, in RFC 3339.
	AppliedAt = Prefix + "applied-at"
	// AppliedSizes is what the last resize changed on the node: for each container its restarts before, and request and limit
	// before and after, e.g. `app 3 cpu 1/2>800m/1600m memory 1Gi/2Gi`. An amount from usage that it did not change has the
	// time of its last change: `cpu 800m@2026-11-20T10:00:00Z`. A boost and its end are marked: `cpu 1>2400m+boost`,
	// `cpu 1>800m-boost`. Reverts depend on it.
	AppliedSizes = Prefix + "applied-sizes"
	// AppliedDemand is what containers needed on the baseline according to usage when the pod was last sized, e.g.
	// `app cpu 480m memory 1Gi; proxy cpu 20m`. With `demand.mode: initial`, the pod keeps the sizes of these resources.
	AppliedDemand = Prefix + "applied-demand"
	// CreatedSizes is what the server did to the pod at its creation: node type, time, key, signature, and the sizes before
	// and after as in `applied-sizes`; then the needs as in `applied-demand`.
	CreatedSizes = Prefix + "created-sizes"
	// Reverts is which resizes made the pod worse and were therefore reverted, as JSON.
	Reverts = Prefix + "reverted"
	// AdoptedAt is when a size was last adopted (`--externally-resized=adopt`), in RFC 3339. A pod without it has adopted no
	// size, even if it has amounts to which another controller sets it back after a boost.
	AdoptedAt = Prefix + "adopted-at"
	// OriginalsBy is the field managers of similar controllers, separated by commas, that wrote originals before
	// workload-resizer. They are trusted, but our resize hides them in managedFields.
	OriginalsBy = Prefix + "originals-by"
	// Infeasible is when and with which message the node refused a resize for any size, and on which kubelet; or when, for
	// which plan (`api-server/…`) and why the API server did not accept one.
	Infeasible = Prefix + "infeasible"
	// Skip is `"true"` to exclude the pod from resizing. All values except `"false"` and the empty one do.
	Skip = Prefix + "skip"
	// EvictionRank is how readily the pod may be evicted so that it gets its size on another node: `low`, `medium`, `high` or
	// `never`. It takes precedence over `eviction.rank`, and any other value means `never`.
	EvictionRank = Prefix + "eviction-rank"
	// Mode is the mode of demand for the pods of the target, on a VerticalPodAutoscaler.
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
// Skip and EvictionRank.
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
	// CPURequest is the cpu request before the first resize of the pod. All originals are Kubernetes quantities.
	CPURequest Original = iota
	// CPULimit is the cpu limit before the first resize, if there was one.
	CPULimit
	// MemoryRequest is the memory request before the first resize.
	MemoryRequest
	// MemoryLimit is the memory limit before the first resize, if there was one.
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
