package document

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// state is a state of the ConfigMap.
type state struct {
	uid     types.UID
	version string
}

func stateOf(cm *corev1.ConfigMap) state { return state{cm.UID, cm.ResourceVersion} }

// isOlderThan tells whether the same ConfigMap came to the other state later.
// Another one is not older, whatever its version: it may be in another etcd.
func (s state) isOlderThan(other state) bool {
	order, err := resourceversion.CompareResourceVersion(s.version, other.version)
	return s.uid == other.uid && err == nil && order < 0
}

// known is what is known of the ConfigMap: by the watch, and by what was read or
// written here, which the watch may be behind.
type known struct {
	watched state
	// own is zero unless the watch is behind it.
	own state
}

// watch takes a state from the watch, and tells whether that is news. What it
// shows on the way to a state that is known must not undo that for a moment. Once
// it has come there, whatever it shows counts: versions go back when etcd is
// restored.
func (k *known) watch(s state) bool {
	if s.isOlderThan(k.own) {
		return false
	}
	k.watched, k.own = s, state{}
	return true
}

// have takes a state that was read or written here, and tells whether that is
// news.
func (k *known) have(s state) bool {
	if s == k.watched || s == k.own || s.isOlderThan(k.watched) || s.isOlderThan(k.own) {
		return false
	}
	k.own = s
	return true
}
