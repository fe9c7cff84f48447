package pod

import (
	"encoding/json"
	"fmt"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Nearby is what a pod means for pods near it, other than by its labels and by what it requests of cpu and memory. Few pods
// have any of it.
type Nearby struct {
	// Ports are the ports of the node that it uses.
	Ports []corev1.ContainerPort `json:",omitempty"`
	// Claims are the names of its PersistentVolumeClaims.
	Claims []string `json:",omitempty"`
	// Repels are its required terms of anti-affinity.
	Repels []corev1.PodAffinityTerm `json:",omitempty"`
	// Requests are its requests other than those for cpu and memory, as the scheduler counts them.
	Requests corev1.ResourceList `json:",omitempty"`
	// Vague means that it has more of this than is kept: not even its terms are known, only by which labels of nodes they are.
	Vague bool `json:",omitempty"`
}

// mostNearby is how many bytes the text of a Nearby has at most, and mostTerms how many terms are left of one with more. Authors
// may write a megabyte into each pod, and what is kept of pods must not grow with that.
const mostNearby, mostTerms = 32 << 10, 100

// vague returns what is kept of a pod that has too much.
func (n *Nearby) vague() Nearby {
	v, seen := Nearby{Vague: true}, map[string]bool{}
	for i := range n.Repels {
		if key := n.Repels[i].TopologyKey; !seen[key] && len(seen) < mostTerms {
			seen[key] = true
			v.Repels = append(v.Repels, corev1.PodAffinityTerm{TopologyKey: key, MatchLabelKeys: []string{"unknown"}})
		}
	}
	return v
}

// Nearby returns what the pod means for pods near it, as text that all pods with the same share; empty if it has nothing of
// it. ParseNearby reads it.
func (p *Pod) Nearby() string { return textOf(p.seldom().nearby) }

// ParseNearby reads the result of Nearby.
func ParseNearby(text string) (n Nearby) {
	if text == "" {
		return n
	}
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		panic(fmt.Sprintf("pod: %v", err)) // NearbyOf wrote it.
	}
	return n
}

// nearbyOf returns NearbyOf as it is kept.
func nearbyOf(object *corev1.Pod) unique.Handle[string] {
	n := NearbyOf(object)
	if len(n.Ports)+len(n.Claims)+len(n.Repels)+len(n.Requests) == 0 {
		return unique.Handle[string]{}
	}
	text := n.text()
	if len(text) > mostNearby {
		n = n.vague()
		text = n.text()
	}
	return unique.Make(text)
}

// text returns what ParseNearby reads.
func (n *Nearby) text() string {
	text, err := json.Marshal(n)
	if err != nil {
		panic(fmt.Sprintf("pod: %v", err)) // All of it can be written as JSON.
	}
	return string(text)
}

// NearbyOf returns what a pod means for pods near it.
func NearbyOf(object *corev1.Pod) (n Nearby) {
	spec := &object.Spec
	for _, list := range [...][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			for k := range list[i].Ports {
				if port := &list[i].Ports[k]; port.HostPort > 0 {
					n.Ports = append(n.Ports, corev1.ContainerPort{HostPort: port.HostPort, HostIP: port.HostIP, Protocol: port.Protocol})
				}
			}
		}
	}
	for i := range spec.Volumes {
		switch v := &spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			n.Claims = append(n.Claims, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			n.Claims = append(n.Claims, object.Name+"-"+v.Name)
		}
	}
	if a := spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		n.Repels = a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	n.Requests = otherRequests(spec)
	return n
}

// otherRequests returns what a pod requests other than cpu and memory: all of its containers and sidecars together, or an
// init container with the sidecars before it if that is more.
func otherRequests(spec *corev1.PodSpec) corev1.ResourceList {
	var sum, most corev1.ResourceList
	for i := range spec.Containers {
		sum = plus(sum, spec.Containers[i].Resources.Requests)
	}
	var before corev1.ResourceList
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sum, before = plus(sum, c.Resources.Requests), plus(before, c.Resources.Requests)
			most = atLeast(most, before)
			continue
		}
		most = atLeast(most, plus(before, c.Resources.Requests))
	}
	return plus(atLeast(most, sum), spec.Overhead)
}

// plus returns a sum of amounts other than those of cpu and memory; nil if there are none.
func plus(sum, more corev1.ResourceList) corev1.ResourceList {
	return merged(sum, more, func(a, b resource.Quantity) resource.Quantity {
		a.Add(b)
		return a
	})
}

// atLeast returns the larger amounts, like plus.
func atLeast(a, b corev1.ResourceList) corev1.ResourceList {
	return merged(a, b, func(a, b resource.Quantity) resource.Quantity {
		if a.Cmp(b) < 0 {
			return b
		}
		return a
	})
}

func merged(a, b corev1.ResourceList, both func(a, b resource.Quantity) resource.Quantity) corev1.ResourceList {
	var all corev1.ResourceList
	for _, list := range [...]corev1.ResourceList{a, b} {
		for name, amount := range list {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory || amount.IsZero() {
				continue
			}
			if all == nil {
				all = corev1.ResourceList{}
			}
			if before, has := all[name]; has {
				amount = both(before.DeepCopy(), amount)
			}
			all[name] = amount.DeepCopy()
		}
	}
	return all
}

// crossesNamespaces reports whether a term of pod (anti-)affinity selects namespaces.
func crossesNamespaces(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	if a := affinity.PodAffinity; a != nil && anyCrosses(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution) {
		return true
	}
	a := affinity.PodAntiAffinity
	return a != nil && anyCrosses(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
}

func anyCrosses(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) bool {
	crosses := func(term *corev1.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != nil
	}
	for i := range required {
		if crosses(&required[i]) {
			return true
		}
	}
	for i := range preferred {
		if crosses(&preferred[i].PodAffinityTerm) {
			return true
		}
	}
	return false
}
