package contract

import (
	"crypto/sha256"
	"encoding/hex"
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
	// AdoptedAt is when the last resize by somebody else was done that was
	// adopted (--externally-resized=adopt), in RFC 3339.
	AdoptedAt = Prefix + "adopted-at"
	// Skip opts a pod out if its value is SkipTrue.
	Skip = Prefix + "skip"
	// SkipTrue is the only value of Skip that has a meaning.
	SkipTrue = "true"
)

// OriginalPrefix begins the keys of all originals.
const OriginalPrefix = Prefix + "original-"

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

var stems = [...]string{"original-cpu.", "original-cpu-limit.", "original-memory.", "original-memory-limit."}

// Key is the annotation that holds the original of a container. Where the name
// part would be longer than maxName, the container's name is cut and closed with
// "_" and eight hexadecimal digits of its SHA-256: no container may have "_" in
// its name, so that a shortened key is never another container's full one.
func (o Original) Key(container string) string {
	if len(stems[o])+len(container) <= maxName {
		return Prefix + stems[o] + container
	}
	sum := sha256.Sum256([]byte(container))
	tail := "_" + hex.EncodeToString(sum[:4])
	return Prefix + stems[o] + container[:maxName-len(stems[o])-len(tail)] + tail
}

// In returns the value of Key in annotations, and whether it is there.
func (o Original) In(annotations map[string]string, container string) (value string, ok bool) {
	if len(annotations) == 0 {
		return "", false
	}
	stem := stems[o]
	if len(stem)+len(container) > maxName {
		value, ok = annotations[o.Key(container)]
		return value, ok
	}
	// Planning looks up eight keys per pod of two containers, so the key is
	// built where it costs no allocation.
	var key [len(Prefix) + maxName]byte
	n := copy(key[:], Prefix)
	n += copy(key[n:], stem)
	n += copy(key[n:], container)
	value, ok = annotations[string(key[:n])]
	return value, ok
}
