package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Prefix begins every annotation key of the contract.
const Prefix = "workload-resizer.io/"

// FieldManager owns the fields that the reconciler writes.
const FieldManager = "workload-resizer"

// AppLabel is the label that has the value AppName on workload-resizer's own
// pods.
const (
	AppLabel = "app.kubernetes.io/name"
	AppName  = "workload-resizer"
)

// Annotations of a pod that do not depend on a container.
const (
	// AppliedInstanceType is the node type that the pod was last sized for.
	AppliedInstanceType = Prefix + "applied-instance-type"
	// AppliedAt is when that was done, in RFC 3339.
	AppliedAt = Prefix + "applied-at"
	// AdoptedAt is when something that somebody else set was last adopted
	// (--externally-resized=adopt), in RFC 3339. It is for people.
	AdoptedAt = Prefix + "adopted-at"
	// OriginalsBy names the field managers, separated by commas, that wrote originals
	// and could know them, in whose place we resized the pod since.
	OriginalsBy = Prefix + "originals-by"
	// Infeasible is what the pod's node answered to a resize that it refuses
	// whatever the amounts are: when, by which kubelet, and its message.
	Infeasible = Prefix + "infeasible"
	// Skip opts a pod out if its value is SkipTrue.
	Skip = Prefix + "skip"
	// SkipTrue is the only value of Skip that has a meaning.
	SkipTrue = "true"
)

// OriginalPrefix begins the keys of all originals, AdoptedPrefix those of all
// adopted amounts.
const (
	OriginalPrefix = Prefix + "original-"
	AdoptedPrefix  = Prefix + "adopted-"
)

// ResizeSubresource is the subresource of pods through which sizes are written.
const ResizeSubresource = "resize"

// IsOriginal reports whether the key of an annotation is that of an original.
func IsOriginal(key string) bool { return strings.HasPrefix(key, OriginalPrefix) }

// Ours reports whether the reconciler writes the annotation of the key; Skip is for
// people.
func Ours(key string) bool {
	switch key {
	case AppliedInstanceType, AppliedAt, AdoptedAt, OriginalsBy, Infeasible:
		return true
	}
	return IsOriginal(key) || strings.HasPrefix(key, AdoptedPrefix)
}

// maxName is how long an annotation's name part may be (the API server's
// qualified-name rule).
const maxName = 63

// Original names one of the originals of a container.
type Original int

const (
	// CPURequest is the cpu request that the container had before its pod was
	// first resized. The values of all originals are Kubernetes quantities.
	CPURequest Original = iota
	// CPULimit is CPURequest for the cpu limit.
	CPULimit
	// MemoryRequest is CPURequest for the memory request.
	MemoryRequest
	// MemoryLimit is CPURequest for the memory limit.
	MemoryLimit
)

// OfRequest is the original of the request of the same resource.
func (o Original) OfRequest() Original {
	if o == CPULimit || o == MemoryLimit {
		return o - 1
	}
	return o
}

// Originals are all of them.
var Originals = [...]Original{CPURequest, CPULimit, MemoryRequest, MemoryLimit}

var (
	originalStems = [...]string{"original-cpu.", "original-cpu-limit.", "original-memory.", "original-memory-limit."}
	adoptedStems  = [...]string{"adopted-cpu.", "adopted-cpu-limit.", "adopted-memory.", "adopted-memory-limit."}
)

// Key is the annotation that holds the original of a container. Where the name
// part would be longer than maxName, the container's name is cut and closed with
// "_" and eight hexadecimal digits of its SHA-256: no container may have "_" in
// its name, so that a shortened key is never another container's full one.
func (o Original) Key(container string) string { return key(originalStems[o], container) }

// In returns the value of Key in annotations, and whether it is there.
func (o Original) In(annotations map[string]string, container string) (value string, ok bool) {
	return lookup(annotations, originalStems[o], container)
}

// AdoptedKey is the annotation that holds what somebody else set this amount of a
// container to, from which its original was worked out. It is shortened as Key is.
func (o Original) AdoptedKey(container string) string { return key(adoptedStems[o], container) }

// AdoptedIn is In for AdoptedKey.
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
	// Planning looks up many keys per pod, so the key is built where it costs no
	// allocation.
	var buffer [len(Prefix) + maxName]byte
	n := copy(buffer[:], Prefix)
	n += copy(buffer[n:], stem)
	n += copy(buffer[n:], container)
	value, ok = annotations[string(buffer[:n])]
	return value, ok
}
