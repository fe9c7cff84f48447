package workload

import (
	"cmp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Workload names an object in the pod's namespace that creates pods: their controller,
// the controller's controller, and so on.
type Workload struct {
	// Stored holds have these names.
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// AboveByName returns the controller of a workload of the pod, derived from the workload's
// name: the Deployment of a ReplicaSet, or the CronJob of a Job. It returns false if the name
// does not show a controller, or if the workload is of another group.
func AboveByName(w Workload, group string, p *pod.Pod) (Workload, bool) {
	if !safety.BuiltIn(schema.GroupKind{Group: group, Kind: w.Kind}) {
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

// Group is pods that count together. With a kind and a name, these are the pods of a workload or of a
// PodDisruptionBudget; with only a namespace, those in the namespace; without any field, all pods.
type Group struct {
	Namespace string
	Workload
}

// byUID is the kind of groups that are named after the UID of their controller: its name may belong to another object
// later.
const byUID = "UID"

// GroupOf returns the workload of a pod: the Deployment whose ReplicaSet controls it, derived from its name, or else its
// controller. Pods in other namespaces are not in the group, no matter what owner they name: users must not be able to
// influence workloads in namespaces of others.
func GroupOf(p *pod.Pod) Group {
	c := p.Controller()
	if c.Kind == "ReplicaSet" {
		if deployment, ok := AboveByName(Workload{c.Kind, c.Name}, c.Group, p); ok {
			return Group{p.Namespace(), deployment}
		}
	}
	return Group{p.Namespace(), Workload{byUID, string(c.UID)}}
}

// TopOf returns the group of the top owner of a pod, so that a rollout does not start over. owners are the owners of the
// pod, the narrowest first.
func TopOf(p *pod.Pod, owners []Workload) Group { return Group{p.Namespace(), owners[len(owners)-1]} }

// Controller returns the UID of the controller that the group is named after; false if it is named after a Deployment.
func (g Group) Controller() (types.UID, bool) { return types.UID(g.Name), g.Kind == byUID }

// Has reports whether a pod belongs to a workload.
func (g Group) Has(p *pod.Pod) bool {
	if uid, ok := g.Controller(); ok {
		return p.Controller().UID == uid && p.Namespace() == g.Namespace
	}
	return GroupOf(p) == g
}

func (g Group) compare(other Group) int {
	return cmp.Or(cmp.Compare(g.Namespace, other.Namespace), cmp.Compare(g.Kind, other.Kind), cmp.Compare(g.Name, other.Name))
}

// clone returns a copy that keeps no text in memory that contains more.
func (g Group) clone() Group {
	return Group{strings.Clone(g.Namespace), Workload{strings.Clone(g.Kind), strings.Clone(g.Name)}}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
