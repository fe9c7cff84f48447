package state

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	kubeletapis "k8s.io/kubelet/pkg/apis"
)

// maxNodes is what fits into the pods' address range, one /24 per node.
const maxNodes = 4096

// Node is one simulated machine.
type Node struct {
	Name string `json:"name"`
	// Type is the value of the node's type label; empty means no such label.
	Type string `json:"type,omitempty"`
	// Index numbers the nodes of a cluster from 0.
	Index int `json:"index"`
	// KubeletPort is where its kubelet serves, on 127.0.0.1; 0 until the cluster
	// comes up.
	KubeletPort int `json:"kubeletPort,omitempty"`
}

// PodIP returns the address of the n-th pod of the node (n from 0 to 253). The
// addresses are made up, nothing listens there, but no two pods share one.
func (n Node) PodIP(pod int) string {
	return fmt.Sprintf("10.%d.%d.%d", 128+n.Index/256, n.Index%256, pod+1)
}

// ParseNodes reads a list such as "n2d=2,n4=2,=1": how many nodes of which
// type. Nodes of type T are called T-0, T-1, …; those of the empty type, which
// carry no type label, node-0, node-1, ….
func ParseNodes(list string) ([]Node, error) {
	var nodes []Node
	if strings.TrimSpace(list) == "" {
		return nodes, nil
	}
	seen := map[string]bool{}
	for entry := range strings.SplitSeq(list, ",") {
		nodeType, countText, found := strings.Cut(strings.TrimSpace(entry), "=")
		if !found {
			return nil, fmt.Errorf("nodes %q: %q is not TYPE=COUNT", list, entry)
		}
		count, err := strconv.Atoi(countText)
		if err != nil || count < 1 {
			return nil, fmt.Errorf("nodes %q: %q is not a count of nodes", list, countText)
		}
		prefix := nodeType
		if nodeType == "" {
			prefix = "node"
		}
		if seen[prefix] {
			return nil, fmt.Errorf("nodes %q: nodes called %s-0, … are listed twice", list, prefix)
		}
		seen[prefix] = true
		if problems := validation.IsValidLabelValue(nodeType); len(problems) > 0 {
			return nil, fmt.Errorf("nodes %q: type %q: %s", list, nodeType, problems[0])
		}
		if problems := validation.IsDNS1123Subdomain(prefix + "-0"); len(problems) > 0 {
			return nil, fmt.Errorf("nodes %q: type %q cannot begin a node's name: %s", list, nodeType, problems[0])
		}
		if len(nodes)+count > maxNodes {
			return nil, fmt.Errorf("nodes %q: more than %d nodes", list, maxNodes)
		}
		for i := range count {
			nodes = append(nodes, Node{Name: fmt.Sprintf("%s-%d", prefix, i), Type: nodeType, Index: len(nodes)})
		}
	}
	return nodes, nil
}

// CheckNodeLabel returns why the key is not one of a label that nodes can hold
// their type in.
func CheckNodeLabel(key string) error {
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return errors.New(problems[0])
	}
	switch key {
	case corev1.LabelHostname, corev1.LabelOSStable, corev1.LabelArchStable, kubeletapis.LabelOS, kubeletapis.LabelArch:
		// Scheduler and controllers rely on the values that a kubelet gives them.
		return errors.New("the value of this label is the kubelet's own; choose another key")
	}
	// The API server lets no kubelet set them on its node.
	if isKubernetesLabel(key) && !kubeletapis.IsKubeletLabel(key) {
		return fmt.Errorf("a kubelet may not set this label; choose a key outside of kubernetes.io and k8s.io, below %s, or one of %s",
			strings.Join(kubeletapis.KubeletLabelNamespaces(), " or "),
			strings.Join([]string{corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, corev1.LabelTopologyRegion}, ", "))
	}
	return nil
}

func isKubernetesLabel(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	return found && (strings.HasSuffix("."+prefix, ".kubernetes.io") || strings.HasSuffix("."+prefix, ".k8s.io"))
}
