package safety

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groups are the API groups of the kinds of Kubernetes itself that control pods, or their controllers.
var groups = map[string]string{
	"ReplicaSet": "apps", "Deployment": "apps", "StatefulSet": "apps", "DaemonSet": "apps", "Job": "batch", "CronJob": "batch", "ReplicationController": "",
}

// BuiltIn reports whether the kind is one of Kubernetes itself, not one of the same name in another group.
func BuiltIn(kind schema.GroupKind) bool {
	group, known := groups[kind.Kind]
	return known && group == kind.Group
}

// KindName returns the name of a kind as users write it: the kind alone if it is one of Kubernetes
// itself, and otherwise with its group, such as CloneSet.apps.kruise.io.
func KindName(kind schema.GroupKind) string {
	if BuiltIn(kind) {
		return kind.Kind
	}
	return kind.String()
}

// Names reports whether one of the names, as in --owner-kinds, stands for a kind. A name without a group
// stands for the kind of Kubernetes itself, or else for the kind of any group.
func Names(names []string, kind schema.GroupKind) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name == kind.Kind {
			_, known := groups[name]
			return !known || BuiltIn(kind)
		}
		return schema.ParseGroupKind(name) == kind
	})
}
