package nodetype

import (
	"regexp"
	"slices"
	"strings"
)

// Labels that determine a node's type, in order of precedence.
const (
	LabelGCPMachineFamily = "cloud.google.com/machine-family"
	LabelAWSFamily        = "karpenter.k8s.aws/instance-family"
	LabelAzureSeries      = "karpenter.azure.com/sku-series"
	LabelOwnCPUModel      = "workload-resizer.io/cpu-model" // The node agent writes it.
	LabelCPUVendor        = "feature.node.kubernetes.io/cpu-model.vendor_id"
	LabelCPUFamily        = "feature.node.kubernetes.io/cpu-model.family"
	LabelCPUModel         = "feature.node.kubernetes.io/cpu-model.id"
	LabelInstanceType     = "node.kubernetes.io/instance-type"
	LabelArch             = "kubernetes.io/arch"
)

// Match is a node type and the label that it comes from. If the type includes a CPU model, the
// labels of both are joined by a comma.
type Match struct{ NodeType, Label string }

// Resolver determines the type of a node.
type Resolver struct{ label string }

// New returns a resolver that reads the type from the given label only. If the label is empty,
// the resolver tries the clouds' labels in order of precedence. It always reads the CPU model.
func New(label string) Resolver { return Resolver{label} }

// Resolve returns the first type from the labels that known accepts. It tries each type with
// the node's CPU model first, if the model is known, and then without it. If known accepts
// none, Resolve returns the first type from the labels, without a model, and false; the zero
// Match if the labels have no type.
func (r Resolver) Resolve(labels map[string]string, known func(nodeType string) bool) (Match, bool) {
	model, modelLabel := Model(labels)
	if r.label != "" {
		return Match{labels[r.label], r.label}.resolve(model, modelLabel, known)
	}
	var first Match
	for _, c := range &candidates {
		m, with := Match{model, modelLabel}, ""
		if c.read != nil {
			m, with = Match{c.read(labels), c.label}, model
		}
		m, ok := m.resolve(with, modelLabel, known)
		if ok {
			return m, true
		}
		if first.NodeType == "" {
			first = m
		}
	}
	return first, false
}

// resolve returns the type with the CPU model if known accepts it. Otherwise, it returns the
// type without the model and whether known accepts that; the zero Match if there is no type.
func (m Match) resolve(model, modelLabel string, known func(nodeType string) bool) (Match, bool) {
	if m.NodeType == "" {
		return Match{}, false
	}
	if model != "" {
		if name := WithModel(m.NodeType, model); known(name) {
			return Match{name, m.Label + "," + modelLabel}, true
		}
	}
	return m, known(m.NodeType)
}

// Labels returns all labels that the resolver reads. While none of them changes, the type stays
// the same.
func (r Resolver) Labels() []string {
	if r.label != "" {
		return append([]string{r.label}, modelLabels[:]...)
	}
	var names []string
	for _, c := range &candidates {
		switch {
		case c.read == nil:
			names = append(names, modelLabels[:]...)
		case names == nil || names[len(names)-1] != c.label:
			names = append(names, c.label)
		}
	}
	return names
}

// TellingLabels returns the labels each of which determines a type by itself. A node without a
// type has none of them.
func (r Resolver) TellingLabels() []string {
	if r.label != "" {
		return []string{r.label}
	}
	return slices.DeleteFunc(r.Labels(), func(label string) bool {
		// The third label stands for all three that Node Feature Discovery writes.
		return label == LabelCPUVendor || label == LabelCPUFamily
	})
}

// candidate is a way to determine a type. If read is nil, the type is the CPU model.
type candidate struct {
	label string
	read  func(labels map[string]string) string
}

var candidates = [...]candidate{
	value(LabelGCPMachineFamily),
	value(LabelAWSFamily),
	value(LabelAzureSeries),
	{},
	value(LabelInstanceType),
	{LabelInstanceType, func(labels map[string]string) string { return Family(labels[LabelInstanceType]) }},
	value(LabelArch),
}

func value(label string) candidate {
	return candidate{label, func(labels map[string]string) string { return labels[label] }}
}

// azureSize matches an Azure size such as Standard_D8as_v5: series, vCPUs (followed by the
// active ones in constrained sizes), features, version.
var azureSize = regexp.MustCompile(`^(?:Standard|Basic)_([A-Z]+)\d+(?:-\d+)?([a-z]*)((?:_.+)?)$`)

// Family derives the family of an instance type from its name. For Azure, it is the name
// without the number of vCPUs (Das_v5); for AWS, the part before the dot (m7i); for Google,
// the part before the first dash (n4). It is empty for any other name.
func Family(instanceType string) string {
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
