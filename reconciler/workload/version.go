package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// version identifies the template of a workload that a pod was created from. A Deployment has a ReplicaSet for
// each of its templates. StatefulSets and DaemonSets label their pods with a hash of the template.
type version struct {
	controller types.UID
	revision   string
}

func versionOf(of *pod.Pod) version {
	return version{of.Controller().UID, of.Labels().Get(appsv1.ControllerRevisionHashLabelKey)}
}
