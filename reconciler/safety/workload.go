package safety

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workload names an object in the pod's namespace that makes pods.
type Workload struct{ Kind, Name string }

// Workloads returns the pod's controller, and the controller's own as far as
// names tell: the Deployment of a ReplicaSet, the CronJob of a Job. Either is
// zero where there is none.
func Workloads(pod *corev1.Pod) (controller, parent Workload) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return Workload{}, Workload{}
	}
	controller = Workload{owner.Kind, owner.Name}
	switch owner.Kind {
	case "ReplicaSet":
		hash := pod.Labels["pod-template-hash"]
		if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok && hash != "" {
			parent = Workload{"Deployment", name}
		}
	case "Job":
		// A CronJob's Jobs end with when they were due, in minutes.
		if i := strings.LastIndexByte(owner.Name, '-'); i > 0 && isNumber(owner.Name[i+1:]) {
			parent = Workload{"CronJob", owner.Name[:i]}
		}
	}
	return controller, parent
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Targets tells whether an autoscaler's target of this kind and name, in the
// pod's namespace, is a workload of the pod.
func Targets(kind, name string, pod *corev1.Pod) bool {
	target := Workload{kind, name}
	controller, parent := Workloads(pod)
	return target != Workload{} && (target == controller || target == parent)
}

// VPAActive tells whether a VerticalPodAutoscaler of this updateMode sizes pods
// that run. The default, "", does.
func VPAActive(updateMode string) bool { return updateMode != "Off" && updateMode != "Initial" }
