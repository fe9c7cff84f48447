package creation

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Placement is where a pod that is being created will run, as far as it says so.
type Placement struct {
	// Node is the node; nil if the pod does not name one that is known.
	Node *corev1.Node
	// NodeType is the type of the node; empty if the pod names neither a node nor a type.
	NodeType string
	// Why says how the pod names it; empty if it does not.
	Why string
}

// place returns where a pod will run.
func (s *Sizer) place(spec *corev1.PodSpec, profile *ratios.Profile) Placement {
	if name, by := nodeOf(spec); name != "" {
		if on := s.Cluster.NodeNamed(name); on != nil {
			match, _ := s.Planner.NodeTypes.Resolve(on.Labels, profile.Knows)
			return Placement{Node: on, NodeType: match.NodeType, Why: fmt.Sprintf("its %s names node %s", by, name)}
		}
		return Placement{}
	}
	labels := requiredLabels(spec)
	if match, ok := s.Planner.NodeTypes.Resolve(labels, profile.Knows); ok {
		return Placement{NodeType: match.NodeType, Why: fmt.Sprintf("its node selector or affinity requires node type %s (label %s)", match.NodeType, match.Label)}
	}
	return Placement{}
}

// nodeOf returns the name of the node that a pod names, and by what: DaemonSets name it in an affinity.
func nodeOf(spec *corev1.PodSpec) (name, by string) {
	if spec.NodeName != "" {
		return spec.NodeName, "nodeName"
	}
	// A pod runs on a node that fulfills any of the terms, so only a single one names a node.
	if term := onlyTerm(spec); term != nil {
		for i := range term.MatchFields {
			if f := &term.MatchFields[i]; f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
				return f.Values[0], "affinity"
			}
		}
	}
	return "", ""
}

// onlyTerm returns the required term of a pod's node affinity; nil unless there is exactly one.
func onlyTerm(spec *corev1.PodSpec) *corev1.NodeSelectorTerm {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) != 1 {
		return nil
	}
	return &required.NodeSelectorTerms[0]
}

// requiredLabels returns the labels that each node has on which the pod may run.
func requiredLabels(spec *corev1.PodSpec) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, spec.NodeSelector)
	if term := onlyTerm(spec); term != nil {
		for i := range term.MatchExpressions {
			if r := &term.MatchExpressions[i]; r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
				labels[r.Key] = r.Values[0]
			}
		}
	}
	return labels
}
