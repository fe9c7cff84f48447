package safety

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groups are the API groups of the built-in kinds that control pods, or their controllers.
var groups = map[string]string{
	"ReplicaSet": "apps", "Deployment": "apps", "StatefulSet": "apps", "DaemonSet": "apps", "Job": "batch", "CronJob": "batch", "ReplicationController": "",
}

// BuiltIn reports whether Kubernetes itself has the kind, and it is not one of the same name in another group.
func BuiltIn(kind schema.GroupKind) bool {
	group, known := groups[kind.Kind]
	return known && group == kind.Group
}

// KindName returns the name of a kind as users write it: the kind alone if it is built in, and otherwise with
// its group, such as CloneSet.apps.kruise.io.
func KindName(kind schema.GroupKind) string {
	if BuiltIn(kind) {
		return kind.Kind
	}
	return kind.String()
}

// Names reports whether one of the names, as in --owner-kinds, stands for a kind. A name without a group
// stands for the built-in kind or, if there is none, for the kind in every group.
func Names(names []string, kind schema.GroupKind) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name == kind.Kind {
			group, known := groups[name]
			return !known || group == kind.Group
		}
		return schema.ParseGroupKind(name) == kind
	})
}
