package usage

import (
	"context"
	"errors"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Source measures what containers use.
type Source interface {
	// Name is the name of the source in errors and metrics.
	Name() string
	// Read passes the samples that were taken after since and not after until to observe: each
	// one once, and those of a pod's container and resource in the order of time. Values that were
	// not measured are left out, never zero. An error means that some samples may be missing; those
	// that were passed are true. It is ErrIncomplete if reading again would not help. Reading the
	// same time again is allowed.
	Read(ctx context.Context, since, until time.Time, observe func(Sample)) error
}

// ErrIncomplete means that a source has delivered what it has, and knows that some of it is missing:
// for example, one of the parts behind a Thanos does not answer. What was delivered counts.
var ErrIncomplete = errors.New("some usage may be missing")

// Sample is what a container of a pod used. A source may not know the UID of the pod and the type
// of its node: the store finds them. If it knows the UID, a sample of an earlier pod with the same
// name cannot be mistaken for one of this pod.
type Sample struct {
	Namespace, Name, Container string
	history.Sample
	// Cores is the mean usage as it was measured, of a sample of CPU: Usage is rounded up, by several percent of a small container's. It is 0
	// if the source rounds, too. The store does not need it.
	Cores float64
	// Strain is how the container fared. The store does not need it.
	Strain Strain
}

// Strain is how a container fared in the time of a sample, as far as its source measures that.
type Strain struct {
	// Throttled is the share of the periods of the CPU limit in which the container was throttled: of a
	// sample of CPU. Pressure is the share of the time in which a task waited for the resource.
	Throttled, Pressure Value
	// LimitEvents is how often the container reached its memory limit or memory.high: of a sample of
	// memory.
	LimitEvents Value
	// Charged is the most memory that was charged to the container, with the page cache, in bytes: of a sample of memory.
	// Nothing can be lower than that, but nothing is needed for it.
	Charged Value
}

// Value is a number, unless it was not measured.
type Value struct {
	N     float32
	Known bool
}

// ValueOf returns a number that was measured.
func ValueOf(n float64) Value { return Value{float32(n), true} }

// Identity is what a pod belongs to, and where it runs.
type Identity struct {
	// Workload is the zero value for a pod that has none. Its usage does not count.
	Workload Workload
	history.Pod
	// Created is when the pod was created: older samples are of another pod with its name.
	Created time.Time
}

// Workload is what creates pods.
type Workload struct {
	Namespace, Kind, Name string
}

// Lookup returns the identity of a pod, and whether it is known. Without a UID, it finds the pod that
// has the name now: pods of a StatefulSet have the names of earlier ones.
type Lookup func(namespace, name, uid string) (Identity, bool)
