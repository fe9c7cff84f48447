package evict

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// spread is a constraint on how a pod and others are spread. As the scheduler, it counts the pods in each domain of the nodes
// that count, and the fewest of them.
type spread struct {
	*corev1.TopologySpreadConstraint
	counts map[string]int
	fewest int
	// itself is 1 if the constraint is about the pod itself, too.
	itself int
}

// spreads counts for the constraints of a pod that the scheduler does not break.
func (s *Scene) spreads(p *corev1.Pod, self *Neighbor, affinity nodeaffinity.RequiredNodeAffinity) (all []spread) {
	constraints := hard(p)
	for i := range constraints {
		c := spread{TopologySpreadConstraint: &constraints[i], counts: map[string]int{}}
		selects := newSelector(c.LabelSelector)
		for _, n := range s.Nodes {
			domain, has := n.Labels[c.TopologyKey]
			if !has || !counted(n.Node, p, c.TopologySpreadConstraint, constraints, affinity) {
				continue
			}
			for k := range n.Pods {
				if other := &n.Pods[k]; other.UID != self.UID && !other.Deleting && other.Namespace == p.Namespace && c.selects(selects, p, other) {
					c.counts[domain]++
				}
			}
			c.counts[domain] += 0 // A domain without pods counts, too.
		}
		first := true
		for _, n := range c.counts {
			if first || n < c.fewest {
				c.fewest, first = n, false
			}
		}
		if c.MinDomains != nil && len(c.counts) < int(*c.MinDomains) {
			c.fewest = 0
		}
		if c.selects(selects, p, self) {
			c.itself = 1
		}
		all = append(all, c)
	}
	return all
}

// uneven returns that a node would have too many of the pods that must be spread; empty if it would not.
func uneven(spreads []spread, on *Node) string {
	for i := range spreads {
		if _, has := on.Labels[spreads[i].TopologyKey]; !has {
			return "it has no label " + spreads[i].TopologyKey + ", which a topology spread constraint of the pod requires"
		}
	}
	for i := range spreads {
		if c := &spreads[i]; c.counts[on.Labels[c.TopologyKey]]+c.itself-c.fewest > int(c.MaxSkew) {
			return "it would have too many pods for a topology spread constraint of the pod"
		}
	}
	return ""
}

// hard returns the constraints that the scheduler does not break.
func hard(p *corev1.Pod) (constraints []corev1.TopologySpreadConstraint) {
	for _, c := range p.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule {
			constraints = append(constraints, c)
		}
	}
	return constraints
}

// counted reports whether the pods on a node count for a constraint.
func counted(on *corev1.Node, p *corev1.Pod, c *corev1.TopologySpreadConstraint, all []corev1.TopologySpreadConstraint, affinity nodeaffinity.RequiredNodeAffinity) bool {
	for i := range all {
		if _, has := on.Labels[all[i].TopologyKey]; !has {
			return false
		}
	}
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if match, err := affinity.Match(on); err != nil || !match {
			return false
		}
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		return tainted(on, p) == ""
	}
	return true
}

// selects reports whether the constraint is about a pod: by its selector, and the values that the pod itself has of
// matchLabelKeys.
func (c *spread) selects(by selector, p *corev1.Pod, other *Neighbor) bool {
	for _, key := range c.MatchLabelKeys {
		if value, has := p.Labels[key]; has && other.Labels.Get(key) != value {
			return false
		}
	}
	return by.matches(other.Labels, true)
}
