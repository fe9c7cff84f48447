package evict

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// attracts are the required terms of a pod's affinity to other pods.
func attracts(p *corev1.Pod) []corev1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// selects reports whether a term of a pod in a namespace is about another pod. What it cannot judge, it reports as or.
func selects(term *corev1.PodAffinityTerm, namespace string, other *Neighbor, or bool) bool {
	if term.NamespaceSelector != nil && (len(term.NamespaceSelector.MatchLabels) > 0 || len(term.NamespaceSelector.MatchExpressions) > 0) ||
		len(term.MatchLabelKeys) > 0 || len(term.MismatchLabelKeys) > 0 {
		return or
	}
	switch {
	case term.NamespaceSelector != nil: // An empty one selects all namespaces.
	case len(term.Namespaces) > 0:
		if !slices.Contains(term.Namespaces, other.Namespace) {
			return false
		}
	case other.Namespace != namespace:
		return false
	}
	return matches(term.LabelSelector, other.Labels, or)
}

// matches reports whether a selector selects labels; a selector that is not valid is or.
func matches(selector *metav1.LabelSelector, set labels.Set, or bool) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return or
	}
	return s.Matches(set)
}

// near returns which pod keeps the pod off a node, or that none is there that it must be near; empty if nothing does.
func (s *Scene) near(on *Node, p *corev1.Pod) string {
	self := NeighborOf(p)
	for i := range self.Repels {
		term := &self.Repels[i]
		for other := range s.others(p.UID, term.TopologyKey, on) {
			if selects(term, p.Namespace, other, true) {
				return "the pod's anti-affinity excludes it"
			}
		}
	}
	for _, n := range s.Nodes {
		for _, other := range n.Pods {
			for i := range other.Repels {
				term := &other.Repels[i]
				domain, has := n.Labels[term.TopologyKey]
				if other.UID != p.UID && has && on.Labels[term.TopologyKey] == domain && selects(term, other.Namespace, self, true) {
					return "the anti-affinity of a pod there excludes it"
				}
			}
		}
	}
	for i := range attracts(p) {
		term, found := &attracts(p)[i], false
		for other := range s.others(p.UID, term.TopologyKey, on) {
			if found = selects(term, p.Namespace, other, false); found {
				break
			}
		}
		if !found {
			return "no pod is near that the pod's affinity requires"
		}
	}
	return ""
}
