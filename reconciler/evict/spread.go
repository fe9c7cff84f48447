package evict

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// spread returns that a node would have too many of the pods that must be spread; empty if it would not. As the scheduler, it
// counts the pods in each domain of the nodes that count, and the fewest of them.
func (s *Scene) spread(on *Node, p *corev1.Pod, affinity nodeaffinity.RequiredNodeAffinity) string {
	constraints := hard(p)
	for i := range constraints {
		if _, has := on.Labels[constraints[i].TopologyKey]; !has {
			return "it has no label " + constraints[i].TopologyKey + ", by which the pod must be spread"
		}
	}
	for i := range constraints {
		c := &constraints[i]
		counts := map[string]int{}
		for _, n := range s.Nodes {
			domain, has := n.Labels[c.TopologyKey]
			if !has || !counted(n.Node, p, c, constraints, affinity) {
				continue
			}
			for _, other := range n.Pods {
				if other.UID != p.UID && !other.Deleting && other.Namespace == p.Namespace && selectedBy(c, p, other) {
					counts[domain]++
				}
			}
			counts[domain] += 0 // A domain without pods counts, too.
		}
		fewest, first := 0, true
		for _, n := range counts {
			if first || n < fewest {
				fewest, first = n, false
			}
		}
		if c.MinDomains != nil && len(counts) < int(*c.MinDomains) {
			fewest = 0
		}
		itself := 0
		if selectedBy(c, p, NeighborOf(p)) {
			itself = 1
		}
		if counts[on.Labels[c.TopologyKey]]+itself-fewest > int(c.MaxSkew) {
			return "it would have too many of the pods that must be spread"
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

// selectedBy reports whether a constraint is about a pod: by its selector, and the values that the pod itself has of
// matchLabelKeys.
func selectedBy(c *corev1.TopologySpreadConstraint, p *corev1.Pod, other *Neighbor) bool {
	for _, key := range c.MatchLabelKeys {
		if value, has := p.Labels[key]; has && other.Labels[key] != value {
			return false
		}
	}
	return matches(c.LabelSelector, other.Labels, true)
}
