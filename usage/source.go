package usage

import (
	"context"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Source measures what containers use.
type Source interface {
	// Name is the name of the source in errors and metrics.
	Name() string
	// Read passes the samples that were taken after since and not after until to observe: each
	// one once, and those of a container and resource in the order of time. Values that were
	// not measured are left out, never zero. An error means that some samples may be missing; those
	// that were passed are true. Reading the same time again is allowed.
	Read(ctx context.Context, since, until time.Time, observe func(Sample)) error
}

// Sample is what a container of a pod used. A source may not know the UID of the pod and the type
// of its node: the store finds them.
type Sample struct {
	Namespace, Name, Container string
	history.Sample
}

// Identity is what a pod belongs to, and where it runs.
type Identity struct {
	Workload Workload
	history.Pod
	// Created is when the pod was created: older samples are of another pod with its name.
	Created time.Time
}

// Workload is what creates pods.
type Workload struct {
	Namespace, Kind, Name string
}

// Lookup returns the identity of a pod, and whether it is known.
type Lookup func(namespace, name string) (Identity, bool)
