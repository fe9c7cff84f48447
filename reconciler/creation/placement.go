package creation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
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

// nodes finds nodes by name.
type nodes interface {
	NodeNamed(name string) *corev1.Node
}

// place returns where a pod will run. known reports whether a node type has a ratio.
func place(spec *corev1.PodSpec, in nodes, types nodetype.Resolver, known func(nodeType string) bool) Placement {
	if name, by := nodeOf(spec); name != "" {
		if on := in.NodeNamed(name); on != nil {
			match, _ := types.Resolve(on.Labels, known)
			return Placement{Node: on, NodeType: match.NodeType, Why: fmt.Sprintf("its %s names node %s", by, name)}
		}
		return Placement{}
	}
	labels := requiredLabels(spec)
	if match, ok := types.Resolve(labels, known); ok {
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
	for key, value := range spec.NodeSelector {
		labels[key] = value
	}
	required := requirements(spec)
	for i := range required {
		if r := &required[i]; r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	return labels
}

// requirements returns the label requirements that each node fulfills on which the pod may run.
func requirements(spec *corev1.PodSpec) []corev1.NodeSelectorRequirement {
	if term := onlyTerm(spec); term != nil {
		return slices.Clip(term.MatchExpressions)
	}
	return nil
}
