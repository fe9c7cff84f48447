package nodetype

import (
	"regexp"
	"slices"
	"strings"
)

// Labels that tell a node's type, in the order in which they are asked.
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

// Match is a node type and the label that gave it; those of a type and of its CPU
// model are joined by a comma.
type Match struct{ NodeType, Label string }

// Resolver tells the type of a node.
type Resolver struct{ label string }

// New returns a resolver that reads the type from the given label only; if it is
// empty, from the labels of the clouds in their order. The CPU model is read
// anyway.
func New(label string) Resolver { return Resolver{label} }

// Resolve returns the first type that the labels give and known accepts. Each type
// is asked with the CPU model of the node first, where that is known, and then by
// itself. Where known accepts none, it returns the first that the labels give,
// without a model, and false; the zero Match if they give none.
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

// resolve returns the type with the CPU model if that is known, else the type and
// whether that is; the zero Match if there is no type.
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

// Labels names all labels that the resolver reads: while none of them changes, the
// type stays the same.
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

// TellingLabels names the labels that tell a type by themselves: of a node whose
// type is not known, all of them are missing.
func (r Resolver) TellingLabels() []string {
	if r.label != "" {
		return []string{r.label}
	}
	return slices.DeleteFunc(r.Labels(), func(label string) bool {
		// The third stands for all that Node Feature Discovery writes.
		return label == LabelCPUVendor || label == LabelCPUFamily
	})
}

// candidate is a way to tell a type; without read it is that by the CPU model.
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

// azureSize is an Azure size such as Standard_D8as_v5: series, vCPUs (with
// fewer active ones in constrained sizes), features, version.
var azureSize = regexp.MustCompile(`^(?:Standard|Basic)_([A-Z]+)\d+(?:-\d+)?([a-z]*)((?:_.+)?)$`)

// Family derives the family of an instance type as the clouds build the name:
// Azure's without the number of vCPUs (Das_v5), AWS's before the dot (m7i),
// Google's before the first dash (n4); empty if it is none of them.
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
