package nodetype

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

// order is what determines a type, in the order of the reference.
var order = []struct {
	what, label, value, nodeType string
}{
	{"the label `" + LabelGCPMachineFamily + "`", LabelGCPMachineFamily, "n4", "n4"},
	{"the label `" + LabelAWSFamily + "`", LabelAWSFamily, "m7i", "m7i"},
	{"the label `" + LabelAzureSeries + "`", LabelAzureSeries, "Das_v5", "Das_v5"},
	{"the CPU model", LabelOwnCPUModel, "Intel-6-143", "Intel-6-143"},
	{"the label `" + LabelInstanceType + "`", LabelInstanceType, "n4-standard-8", "n4-standard-8"},
	{"the family of that instance type", LabelInstanceType, "Standard_D8as_v5", "Das_v5"},
	{"the label `" + LabelArch + "`", LabelArch, "arm64", "arm64"},
}

func TestReference(t *testing.T) {
	t.Run("matches the code", matchesTheCode)
	t.Run("has all labels in their order", hasAllLabelsInTheirOrder)
}

func matchesTheCode(t *testing.T) {
	var rows [][]string
	for i, o := range order {
		rows = append(rows, []string{strconv.Itoa(i + 1), o.what, "`" + o.value + "`", "`" + o.nodeType + "`"})
	}
	docpage.Generated(t, "docs/reference/configuration.md", map[string]string{
		"node types": docpage.Table([]string{"", "The type is", "Value", "Type"}, rows...),
	})
}

// A node with the labels of a row and of all later ones has the type of the row.
func hasAllLabelsInTheirOrder(t *testing.T) {
	var labels []string
	for i, o := range order {
		node := map[string]string{}
		for _, later := range slices.Backward(order[i:]) {
			node[later.label] = later.value
		}
		if got, ok := New("").Resolve(node, func(nodeType string) bool { return nodeType == o.nodeType }); !ok || got.NodeType != o.nodeType {
			t.Errorf("%s: %+v", o.what, got)
		}
		labels = append(labels, o.label)
		if o.label == LabelOwnCPUModel {
			labels = append(labels, modelLabels[1:]...)
		}
	}
	if got := slices.Compact(labels); !slices.Equal(got, New("").Labels()) {
		t.Errorf("the reference has the labels %s, not %s", strings.Join(got, ", "), strings.Join(New("").Labels(), ", "))
	}
}
