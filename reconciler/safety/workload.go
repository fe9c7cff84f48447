package safety

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Workload names an object in the pod's namespace that makes pods: their
// controller, the controller's own, and so on.
type Workload struct{ Kind, Name string }

// AboveByName returns what controls a workload of the pod, as far as its name tells:
// the Deployment of a ReplicaSet, the CronJob of a Job. False if it tells nothing.
func AboveByName(w Workload, p *pod.Pod) (Workload, bool) {
	switch w.Kind {
	case "ReplicaSet":
		hash := p.Labels().Get(appsv1.DefaultDeploymentUniqueLabelKey)
		if name, ok := strings.CutSuffix(w.Name, "-"+hash); ok && hash != "" {
			return Workload{"Deployment", name}, true
		}
	case "Job":
		// A CronJob's Jobs end with when they were due, in minutes.
		if i := strings.LastIndexByte(w.Name, '-'); i > 0 && isNumber(w.Name[i+1:]) {
			return Workload{"CronJob", w.Name[:i]}, true
		}
	}
	return Workload{}, false
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// VPAActive tells whether a VerticalPodAutoscaler of this updateMode sizes pods
// that run. The default, "", does.
func VPAActive(updateMode string) bool { return updateMode != "Off" && updateMode != "Initial" }
