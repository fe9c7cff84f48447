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

// OriginalCPU is the key of the cpu request that the container had before its
// pod was first resized. The value is a Kubernetes quantity.
func OriginalCPU(container string) string { return perContainer("original-cpu.", container) }

// OriginalMemory is OriginalCPU for the memory request.
func OriginalMemory(container string) string { return perContainer("original-memory.", container) }

// OriginalCPULimit is OriginalCPU for the cpu limit.
func OriginalCPULimit(container string) string { return perContainer("original-cpu-limit.", container) }

// OriginalMemoryLimit is OriginalCPU for the memory limit.
func OriginalMemoryLimit(container string) string {
	return perContainer("original-memory-limit.", container)
}

// perContainer appends the container's name to stem. Where the name part would
// be longer than maxName, the container's name is cut and closed with "_" and
// eight hexadecimal digits of its SHA-256: no container may have "_" in its
// name, so that a shortened key is never another container's full one.
func perContainer(stem, container string) string {
	if len(stem)+len(container) <= maxName {
		return Prefix + stem + container
	}
	sum := sha256.Sum256([]byte(container))
	tail := "_" + hex.EncodeToString(sum[:4])
	return Prefix + stem + container[:maxName-len(stem)-len(tail)] + tail
}
