package check

import (
	"context"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// nodesGroup checks whether the types of nodes are known, and have ratios.
func (s *subject) nodesGroup(context.Context) []Result {
	if s.status != nil {
		return s.typesOfServer()
	}
	const check = "node-labels"
	if s.nodesErr != nil {
		return []Result{unknown(check, "the labels of nodes", s.nodesErr)}
	}
	types := nodetype.New("")
	var without []string
	known := map[string]bool{}
	for i := range s.nodes {
		match, _ := types.Resolve(s.nodes[i].Labels, func(string) bool { return false })
		// Each node has a label for its architecture, which says little about its speed.
		if match.NodeType == "" || match.Label == nodetype.LabelArch {
			without = append(without, s.nodes[i].Name)
		}
		known[match.NodeType] = true
	}
	labels := slices.DeleteFunc(types.TellingLabels(), func(label string) bool { return label == nodetype.LabelArch })
	if len(without) > 0 {
		return []Result{warning(check, "label them, or start the server with --node-type-label (docs/reference/configuration.md#node-types)",
			"%s without a label that names the node type by default (%s): %s", count(len(without), "node"), strings.Join(labels, ", "), some(without))}
	}
	return []Result{ok(check, "labels name the type of each node: %s of %s", count(len(s.nodes), "node"), count(len(known), "type"))}
}

// typesOfServer reports the node types that the server cannot size pods for.
func (s *subject) typesOfServer() []Result {
	const check = "node-types"
	var found []Result
	for _, t := range s.status.GetNodeTypesWithoutRatio() {
		reason := contract.UnknownNodeType
		if t.GetNodeType() == "" {
			reason = contract.NodeTypeUnlabelled
		}
		found = append(found, warning(check, aboutReason(reason, map[string]string{"TYPE": t.GetNodeType()}), "%s", print.WithoutRatio(t)))
	}
	if len(found) == 0 {
		return []Result{ok(check, "no pod is skipped because of the type of its node")}
	}
	return found
}
