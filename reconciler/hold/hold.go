package hold

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Kind is the effect of a hold on the pods that it covers.
type Kind string

const (
	// Restore returns the pods to their originals, removes our annotations, and keeps
	// the pods in that state.
	Restore Kind = "Restore"
	// Pause stops resizing the pods.
	Pause Kind = "Pause"
	// Breaker stops sizing the pods, because resizes of too many were reverted. Reverts go on. The
	// server opens it, for a workload, a namespace or the cluster, and only a person resets it, unless
	// there is nothing left that it could stop.
	Breaker Kind = "Breaker"
)

// kinds lists all kinds, in the order of precedence.
var kinds = [...]Kind{Restore, Pause, Breaker}

// lower returns the kind in lower case, as in keys and messages.
func (k Kind) lower() string { return strings.ToLower(string(k)) }

// participle describes the pods under a hold of the kind.
func (k Kind) participle() string {
	switch k {
	case Restore:
		return "restored"
	case Breaker:
		return "degraded"
	case Pause:
	}
	return "paused"
}

// Scope is the set of pods that a hold covers:
//
//   - no field: the cluster,
//   - Namespace: a namespace,
//   - Namespace and Workload: a workload,
//   - Namespace, Pod and UID: one pod.
//
// A scope to release may omit the UID, and then means every pod of that name.
type Scope struct {
	Namespace, Pod string
	UID            types.UID
	// Workload is a controller of pods, or an owner above it.
	Workload workload.Workload
}

// String names the scope in messages.
func (s Scope) String() string {
	switch {
	case s.Pod != "":
		return fmt.Sprintf("pod %s/%s", s.Namespace, s.Pod)
	case s.Workload != workload.Workload{}:
		return fmt.Sprintf("%s %s/%s", s.Workload.Kind, s.Namespace, s.Workload.Name)
	case s.Namespace != "":
		return "namespace " + s.Namespace
	}
	return "all pods"
}

// Contains reports whether the other scope equals this one or is inside it, according to
// the scopes alone. The scope of a pod does not name its workloads, so no pod is inside a
// workload.
func (s Scope) Contains(other Scope) bool {
	return (s.Namespace == "" || s.Namespace == other.Namespace) &&
		(s.Pod == "" || s.Pod == other.Pod) &&
		(s.UID == "" || s.UID == other.UID) &&
		(s.Workload == workload.Workload{} || s.Workload == other.Workload)
}

// level is how narrow a scope is.
type level int

const (
	ofCluster level = iota
	ofNamespace
	ofWorkload
	ofPod
)

func (s Scope) level() level {
	switch {
	case s.Pod != "":
		return ofPod
	case s.Workload != workload.Workload{}:
		return ofWorkload
	case s.Namespace != "":
		return ofNamespace
	}
	return ofCluster
}

// Hold is a kind and a scope, with its author and reason. There is at most one hold of a
// kind for a scope.
type Hold struct {
	Kind  Kind
	Scope Scope
	// Emergency restores as fast as the API server accepts writes; only for a Restore.
	Emergency bool
	// Reason and Author are as the caller gave them; they are not verified.
	Reason, Author string
	// CredentialID identifies the credential of the author; empty if it is not known.
	CredentialID string
	// RequestID is the ID of the request for the hold, and RequestDigest what was requested, and
	// by whom; empty if it had no ID.
	RequestID, RequestDigest string
	// Since is the start of the hold, in whole seconds.
	Since time.Time
	// Expires is the end of the hold, in whole seconds; zero means never.
	Expires time.Time
	// Reset is when a person reset a breaker, in whole seconds; zero while it is open. A breaker that
	// was reset is no longer in effect. It is stored because earlier reverts must not open it again.
	Reset time.Time
}

// key identifies a hold.
type key struct {
	scope Scope
	kind  Kind
}

func (h Hold) key() key { return key{h.Scope, h.Kind} }

// endedBy reports whether the hold has expired at that time.
func (h Hold) endedBy(now time.Time) bool {
	return !h.Expires.IsZero() && !now.Before(h.Expires)
}
