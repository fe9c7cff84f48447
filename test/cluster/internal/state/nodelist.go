package state

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"
)

const (
	// maxNodes is the number of nodes that fit into the pods' address range, one /24 per
	// node.
	maxNodes = 4096
	// maxSkew is how many minor versions a kubelet may be older than the API server.
	maxSkew = 3
	// minSpeed and maxSpeed exclude typing errors.
	minSpeed, maxSpeed = 0.01, 100.0
	// untyped is the name prefix of nodes without a type.
	untyped = "node"
)

// ParseNodes parses a list such as "n2d=2,n4=2,n4=1:kubelet=1.33.13,=1": the number of
// nodes of each type, and their options. Nodes of type T are named T-0, T-1, …. Nodes of
// the empty type have no type label and are named node-0, node-1, …. If a type is listed
// again with other options, its numbering continues. cluster is the version of the
// cluster.
func ParseNodes(list string, cluster *version.Version) ([]Node, error) {
	var nodes []Node
	if strings.TrimSpace(list) == "" {
		return nodes, nil
	}
	for entry := range strings.SplitSeq(list, ",") {
		like, count, err := parseEntry(strings.TrimSpace(entry), cluster)
		if err == nil {
			nodes, err = addNodes(nodes, like, count)
		}
		if err != nil {
			return nil, fmt.Errorf("nodes %q: %w", list, err)
		}
	}
	return nodes, nil
}

// parseEntry returns the properties that the nodes of an entry share, and their count.
func parseEntry(entry string, cluster *version.Version) (Node, int, error) {
	nodeType, rest, found := strings.Cut(entry, "=")
	if !found {
		return Node{}, 0, fmt.Errorf("%q is not TYPE=COUNT", entry)
	}
	countText, options, hasOptions := strings.Cut(rest, ":")
	count, err := strconv.Atoi(countText)
	if err != nil || count < 1 {
		return Node{}, 0, fmt.Errorf("%q is not a count of nodes", countText)
	}
	if problems := validation.IsValidLabelValue(nodeType); len(problems) > 0 {
		return Node{}, 0, fmt.Errorf("type %q: %s", nodeType, problems[0])
	}
	node := Node{Type: nodeType}
	if !hasOptions {
		return node, count, nil
	}
	for option := range strings.SplitSeq(options, ":") {
		if err := node.set(option, cluster); err != nil {
			return Node{}, 0, fmt.Errorf("%q: %w", entry, err)
		}
	}
	return node, count, nil
}

// set applies one option.
func (n *Node) set(option string, cluster *version.Version) error {
	key, value, _ := strings.Cut(option, "=")
	switch {
	case option == "cpu-manager=static":
		n.CPUManager = value
		return nil
	case key == "speed":
		speed, err := strconv.ParseFloat(value, 64)
		// Written so that NaN is invalid.
		if valid := err == nil && speed >= minSpeed && speed <= maxSpeed; !valid {
			return fmt.Errorf("%q is not a speed from %g to %g", value, minSpeed, maxSpeed)
		}
		n.Speed = speed
		return nil
	case key == "taint":
		if problems := validation.IsQualifiedName(value); len(problems) > 0 {
			return fmt.Errorf("%q is not the key of a taint: %s", value, problems[0])
		}
		n.Taint = value
		return nil
	case key == "kubelet":
		kubelet, err := version.ParseSemantic(value)
		if err != nil {
			return fmt.Errorf("%q is not a version such as 1.33.13", value)
		}
		if kubelet.GreaterThan(cluster) {
			return fmt.Errorf("a kubelet of version %s is newer than the API server, %s", kubelet, cluster)
		}
		if kubelet.LessThan(version.MajorMinor(cluster.Major(), cluster.Minor()).SubtractMinor(maxSkew)) {
			return fmt.Errorf("a kubelet of version %s is more than %d minor versions older than the API server, %s", kubelet, maxSkew, cluster)
		}
		n.KubeletVersion = kubelet.String()
		return nil
	}
	return fmt.Errorf("%q is none of cpu-manager=static, kubelet=VERSION, speed=FACTOR and taint=KEY", option)
}

// sameOptions reports whether two nodes have the same options.
func (n Node) sameOptions(other Node) bool {
	return n.CPUManager == other.CPUManager && n.KubeletVersion == other.KubeletVersion && n.Speed == other.Speed && n.Taint == other.Taint
}

// addNodes appends count nodes that are like the given one.
func addNodes(nodes []Node, like Node, count int) ([]Node, error) {
	prefix := cmp.Or(like.Type, untyped)
	if problems := validation.IsDNS1123Subdomain(prefix + "-0"); len(problems) > 0 {
		return nil, fmt.Errorf("type %q cannot begin a node's name: %s", like.Type, problems[0])
	}
	if len(nodes)+count > maxNodes {
		return nil, fmt.Errorf("more than %d nodes", maxNodes)
	}
	first := 0
	for _, node := range nodes {
		if cmp.Or(node.Type, untyped) != prefix {
			continue
		}
		if node.Type != like.Type || node.sameOptions(like) {
			return nil, fmt.Errorf("nodes called %s-0, … are listed twice", prefix)
		}
		first++
	}
	for i := range count {
		like.Name = fmt.Sprintf("%s-%d", prefix, first+i)
		like.Index = len(nodes)
		nodes = append(nodes, like)
	}
	return nodes, nil
}
