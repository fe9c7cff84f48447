package document

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// state identifies a version of the ConfigMap.
type state struct {
	uid     types.UID
	version string
}

func stateOf(cm *corev1.ConfigMap) state { return state{cm.UID, cm.ResourceVersion} }

// isOlderThan reports whether the same ConfigMap reached the other state later.
// A different ConfigMap is never older, regardless of its version: it may be from
// another etcd.
func (s state) isOlderThan(other state) bool {
	order, err := resourceversion.CompareResourceVersion(s.version, other.version)
	return s.uid == other.uid && err == nil && order < 0
}

// known tracks the last states of the ConfigMap: the state that the watch delivered,
// and the state that this process read or wrote, which the watch may lag behind.
type known struct {
	watched state
	// own is zero unless the watch lags behind it.
	own state
}

// watch records a state from the watch, and reports whether it is new. While the
// watch catches up with a known state, the states in between must not undo that
// state. Once the watch has caught up, every state counts: versions go back when
// etcd is restored.
func (k *known) watch(s state) bool {
	if s.isOlderThan(k.own) {
		return false
	}
	k.watched, k.own = s, state{}
	return true
}

// have records a state that this process read or wrote, and reports whether it is
// new.
func (k *known) have(s state) bool {
	if s == k.watched || s == k.own || s.isOlderThan(k.watched) || s.isOlderThan(k.own) {
		return false
	}
	k.own = s
	return true
}
