package hold

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Kind is what is done with the pods that a hold covers.
type Kind string

const (
	// Restore gives the pods their originals back, takes our annotations off
	// them, and keeps them so.
	Restore Kind = "Restore"
	// Pause leaves the pods as they are.
	Pause Kind = "Pause"
)

// participle is what the kind makes of pods.
func (k Kind) participle() string {
	if k == Restore {
		return "restored"
	}
	return "paused"
}

// Scope is what a hold covers. All empty is the cluster, Namespace alone a
// namespace, with Workload what makes pods there, with Pod and UID one pod. A
// scope to release may leave out the UID: it stands for every pod of that name.
type Scope struct {
	Namespace, Pod string
	UID            types.UID
	// Workload is a controller of pods, or the controller's own.
	Workload safety.Workload
}

// String names the scope in messages.
func (s Scope) String() string {
	switch {
	case s.Pod != "":
		return fmt.Sprintf("pod %s/%s", s.Namespace, s.Pod)
	case s.Workload != safety.Workload{}:
		return fmt.Sprintf("%s %s/%s", s.Workload.Kind, s.Namespace, s.Workload.Name)
	case s.Namespace != "":
		return "namespace " + s.Namespace
	}
	return "all pods"
}

// Contains tells whether the other scope is this one or inside it, as far as the
// scopes say: of a pod alone nobody knows what made it, so no pod is inside a
// workload.
func (s Scope) Contains(other Scope) bool {
	return (s.Namespace == "" || s.Namespace == other.Namespace) &&
		(s.Pod == "" || s.Pod == other.Pod) &&
		(s.UID == "" || s.UID == other.UID) &&
		(s.Workload == safety.Workload{} || s.Workload == other.Workload)
}

// level is 0 for the cluster, 1 for a namespace, 2 for a workload and 3 for a
// pod.
func (s Scope) level() int {
	switch {
	case s.Pod != "":
		return 3
	case s.Workload != safety.Workload{}:
		return 2
	case s.Namespace != "":
		return 1
	}
	return 0
}

// Hold is a kind and a scope, and who wanted it and why. There is at most one
// of a kind for a scope.
type Hold struct {
	Kind  Kind
	Scope Scope
	// Reason and Author are what the person gave; nobody has verified them.
	Reason, Author string
	// Since is when it began, to the second.
	Since time.Time
	// Expires is when it ends, to the second; zero is never.
	Expires time.Time
}

// key tells holds apart.
type key struct {
	scope Scope
	kind  Kind
}

func (h Hold) key() key { return key{h.Scope, h.Kind} }

// endedBy tells whether the hold has expired at that time.
func (h Hold) endedBy(now time.Time) bool {
	return !h.Expires.IsZero() && !now.Before(h.Expires)
}
