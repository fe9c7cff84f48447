package nodetype

import (
	"regexp"
	"strings"
)

// modelLabels are all that Model reads.
var modelLabels = [...]string{LabelOwnCPUModel, LabelCPUVendor, LabelCPUFamily, LabelCPUModel}

// Model returns the CPU model that a node's labels tell, e.g. "Intel-6-143", and
// the label that gave it: what the node agent has written, else what Node Feature
// Discovery says, whose three labels are needed to tell a model. Both are empty if
// it is not known.
func Model(labels map[string]string) (model, label string) {
	if own := labels[LabelOwnCPUModel]; own != "" {
		return own, LabelOwnCPUModel
	}
	vendor := labels[LabelCPUVendor]
	if vendor == "" {
		return "", ""
	}
	family, id := labels[LabelCPUFamily], labels[LabelCPUModel]
	if family == "" || id == "" {
		return "", ""
	}
	return vendor + "-" + family + "-" + id, LabelCPUModel
}

// maxLength is that of a label's value, and so of a node type.
const maxLength = 63

// modelSeparator is between a node type and a CPU model in a name; no label's
// value has it.
const modelSeparator = "@"

// WithModel names the machines of a node type that have one CPU model, e.g.
// "e2@Intel-6-79", cut to 63 bytes; the node type itself if the model is not known
// or there is no room for any of it.
func WithModel(nodeType, model string) string {
	if model == "" {
		return nodeType
	}
	name := nodeType + modelSeparator + model
	return strings.TrimRight(name[:min(len(name), maxLength)], separators+modelSeparator)
}

// SplitModel is what WithModel has joined; the model is empty if the name has
// none.
func SplitModel(name string) (nodeType, model string) {
	nodeType, model, _ = strings.Cut(name, modelSeparator)
	return nodeType, model
}

const separators = "-_."

var noLabelValue = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// ModelName makes the name of a CPU model, as people write it, one that a label
// can have as a value: "AMD EPYC 7B13" is AMD-EPYC-7B13.
func ModelName(text string) string {
	name := strings.Trim(noLabelValue.ReplaceAllString(text, "-"), separators)
	return strings.TrimRight(name[:min(len(name), maxLength)], separators)
}
