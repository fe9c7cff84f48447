package safety

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Workload names an object in the pod's namespace that creates pods: their controller,
// the controller's controller, and so on.
type Workload struct{ Kind, Name string }

// AboveByName returns the controller of a workload of the pod, derived from the workload's
// name: the Deployment of a ReplicaSet, or the CronJob of a Job. It returns false if the name
// does not show a controller, or if the workload is of another group.
func AboveByName(w Workload, group string, p *pod.Pod) (Workload, bool) {
	if !BuiltIn(schema.GroupKind{Group: group, Kind: w.Kind}) {
		return Workload{}, false
	}
	switch w.Kind {
	case "ReplicaSet":
		hash := p.Labels().Get(appsv1.DefaultDeploymentUniqueLabelKey)
		if name, ok := strings.CutSuffix(w.Name, "-"+hash); ok && hash != "" {
			return Workload{"Deployment", name}, true
		}
	case "Job":
		// The names of a CronJob's Jobs end with their scheduled time in minutes.
		if i := strings.LastIndexByte(w.Name, '-'); i > 0 && isNumber(w.Name[i+1:]) {
			return Workload{"CronJob", w.Name[:i]}, true
		}
	}
	return Workload{}, false
}

// DeploymentOf returns the Deployment whose ReplicaSet controls the pod, derived from its name. It returns false if
// there is none.
func DeploymentOf(p *pod.Pod) (Workload, bool) {
	c := p.Controller()
	above, ok := AboveByName(Workload{c.Kind, c.Name}, c.Group, p)
	return above, ok && c.Kind == "ReplicaSet"
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
