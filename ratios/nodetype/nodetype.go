package nodetype

import (
	"regexp"
	"strings"
)

// Labels that tell a node's type, in the order in which they are asked.
const (
	LabelGCPMachineFamily = "cloud.google.com/machine-family"
	LabelAWSFamily        = "karpenter.k8s.aws/instance-family"
	LabelAzureSeries      = "karpenter.azure.com/sku-series"
	LabelCPUVendor        = "feature.node.kubernetes.io/cpu-model.vendor_id"
	LabelCPUFamily        = "feature.node.kubernetes.io/cpu-model.family"
	LabelCPUModel         = "feature.node.kubernetes.io/cpu-model.id"
	LabelInstanceType     = "node.kubernetes.io/instance-type"
	LabelArch             = "kubernetes.io/arch"
)

// Match is a node type and the label that gave it.
type Match struct{ NodeType, Label string }

// Resolver tells the type of a node.
type Resolver struct{ label string }

// New returns a resolver that reads only the given label; if it is empty, the
// labels of the clouds in their order.
func New(label string) Resolver { return Resolver{label} }

// Resolve returns the first type that the labels give and known accepts. Where
// known accepts none, it returns the first that the labels give and false; the
// zero Match if they give none.
func (r Resolver) Resolve(labels map[string]string, known func(nodeType string) bool) (Match, bool) {
	if r.label != "" {
		m := Match{labels[r.label], r.label}
		if m.NodeType == "" {
			return Match{}, false
		}
		return m, known(m.NodeType)
	}
	var first Match
	for _, c := range &candidates {
		m := Match{c.read(labels), c.label}
		if m.NodeType == "" {
			continue
		}
		if known(m.NodeType) {
			return m, true
		}
		if first.NodeType == "" {
			first = m
		}
	}
	return first, false
}

// Labels names the labels that the resolver reads, in their order.
func (r Resolver) Labels() []string {
	if r.label != "" {
		return []string{r.label}
	}
	var names []string
	for _, c := range &candidates {
		if len(names) == 0 || names[len(names)-1] != c.label {
			names = append(names, c.label)
		}
	}
	return names
}

type candidate struct {
	label string
	read  func(labels map[string]string) string
}

var candidates = [...]candidate{
	value(LabelGCPMachineFamily),
	value(LabelAWSFamily),
	value(LabelAzureSeries),
	{LabelCPUModel, cpuModel},
	value(LabelInstanceType),
	{LabelInstanceType, func(labels map[string]string) string { return family(labels[LabelInstanceType]) }},
	value(LabelArch),
}

func value(label string) candidate {
	return candidate{label, func(labels map[string]string) string { return labels[label] }}
}

// cpuModel joins what Node Feature Discovery says of the CPU, e.g.
// "Intel-6-143"; all three are needed to tell a model.
func cpuModel(labels map[string]string) string {
	vendor, family, id := labels[LabelCPUVendor], labels[LabelCPUFamily], labels[LabelCPUModel]
	if vendor == "" || family == "" || id == "" {
		return ""
	}
	return vendor + "-" + family + "-" + id
}

// azureSize is an Azure size such as Standard_D8as_v5: series, vCPUs (with
// fewer active ones in constrained sizes), features, version.
var azureSize = regexp.MustCompile(`^(?:Standard|Basic)_([A-Z]+)\d+(?:-\d+)?([a-z]*)((?:_.+)?)$`)

// family derives the family of an instance type as the clouds build the name:
// Azure's without the number of vCPUs (Das_v5), AWS's before the dot (m7i),
// Google's before the first dash (n4).
func family(instanceType string) string {
	if m := azureSize.FindStringSubmatch(instanceType); m != nil {
		return m[1] + m[2] + m[3]
	}
	family, _, found := strings.Cut(instanceType, ".")
	if !found {
		family, _, found = strings.Cut(instanceType, "-")
	}
	if !found {
		return ""
	}
	return family
}
