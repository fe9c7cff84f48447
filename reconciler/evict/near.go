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

// term is a term of affinity or anti-affinity of a pod in a namespace.
type term struct {
	*corev1.PodAffinityTerm
	namespace string
	selector  selector
	// unjudged means that it is not known which pods it is about.
	unjudged bool
}

func newTerm(of *corev1.PodAffinityTerm, namespace string) term {
	return term{of, namespace, newSelector(of.LabelSelector), picksNamespaces(of) || len(of.MatchLabelKeys) > 0 || len(of.MismatchLabelKeys) > 0}
}

// picksNamespaces reports whether a term selects namespaces by their labels. An empty selector selects all.
func picksNamespaces(of *corev1.PodAffinityTerm) bool {
	return of.NamespaceSelector != nil && (len(of.NamespaceSelector.MatchLabels) > 0 || len(of.NamespaceSelector.MatchExpressions) > 0)
}

// selects reports whether the term is about another pod. What it cannot judge, it reports as or.
func (t *term) selects(other *Neighbor, or bool) bool {
	switch {
	case t.unjudged:
		return or
	case t.NamespaceSelector != nil:
	case len(t.Namespaces) > 0:
		if !slices.Contains(t.Namespaces, other.Namespace) {
			return false
		}
	case other.Namespace != t.namespace:
		return false
	}
	return t.selector.matches(other.Labels, or)
}

// selector is a selector of pods by their labels; nil if it is not valid.
type selector struct{ labels.Selector }

func newSelector(of *metav1.LabelSelector) selector {
	s, err := metav1.LabelSelectorAsSelector(of)
	if err != nil {
		return selector{}
	}
	return selector{s}
}

// matches reports whether the selector selects labels; one that is not valid is or.
func (s selector) matches(set labels.Labels, or bool) bool {
	if s.Selector == nil {
		return or
	}
	return s.Matches(set)
}

// domains are values of a label of nodes.
type domains struct {
	key    string
	values map[string]bool
}

// has reports whether a node is in one of the domains.
func (d *domains) has(on *Node) bool {
	value, labeled := on.Labels[d.key]
	return labeled && d.values[value]
}

// holding returns the domains by key in which any pod is that a function selects, except for the pod itself.
func (s *Scene) holding(key string, self *Neighbor, selects func(*Neighbor) bool) domains {
	found := domains{key, map[string]bool{}}
	for _, n := range s.Nodes {
		value, labeled := n.Labels[key]
		if !labeled || found.values[value] {
			continue
		}
		for i := range n.Pods {
			if other := &n.Pods[i]; other.UID != self.UID && selects(other) {
				found.values[value] = true
				break
			}
		}
	}
	return found
}

// company is where other pods let a pod be, and where it wants to be because of them.
type company struct {
	// excluded are the domains with a pod that the pod must not be near, and excluding those with a pod that it must not be
	// near because that one says so. required are those with a pod that it must be near.
	excluded, required []domains
	excluding          map[string]*domains
}

// companyOf finds the company of a pod.
func (s *Scene) companyOf(p *corev1.Pod, self *Neighbor) (c company) {
	for i := range self.Repels {
		t := newTerm(&self.Repels[i], p.Namespace)
		c.excluded = append(c.excluded, s.holding(t.TopologyKey, self, func(other *Neighbor) bool { return t.selects(other, true) }))
	}
	var near []term
	for i := range attracts(p) {
		near = append(near, newTerm(&attracts(p)[i], p.Namespace))
	}
	// For the scheduler, only a pod counts that all terms are about.
	counts := func(other *Neighbor) bool {
		return !slices.ContainsFunc(near, func(t term) bool { return !t.selects(other, false) })
	}
	for i := range near {
		c.required = append(c.required, s.holding(near[i].TopologyKey, self, counts))
	}
	c.excluding = map[string]*domains{}
	for _, n := range s.Nodes {
		for i := range n.Pods {
			other := &n.Pods[i]
			if len(other.Repels) == 0 || other.UID == self.UID {
				continue
			}
			for k := range other.Repels {
				key := other.Repels[k].TopologyKey
				value, labeled := n.Labels[key]
				if d := c.excluding[key]; !labeled || d != nil && d.values[value] {
					continue
				}
				if t := newTerm(&other.Repels[k], other.Namespace); t.selects(self, true) {
					if c.excluding[key] == nil {
						c.excluding[key] = &domains{key, map[string]bool{}}
					}
					c.excluding[key].values[value] = true
				}
			}
		}
	}
	return c
}

// refuses returns which pod keeps the pod off a node, or that none is there that it must be near; empty if nothing does.
func (c *company) refuses(on *Node) string {
	for i := range c.excluded {
		if c.excluded[i].has(on) {
			return "the pod's anti-affinity excludes it"
		}
	}
	for _, d := range c.excluding {
		if d.has(on) {
			return "the anti-affinity of a pod there excludes it"
		}
	}
	for i := range c.required {
		if !c.required[i].has(on) {
			return "no pod is near that the pod's affinity requires"
		}
	}
	return ""
}
