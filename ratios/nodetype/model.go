package nodetype

import (
	"regexp"
	"strings"
)

// modelLabels are all labels that Model reads.
var modelLabels = [...]string{LabelOwnCPUModel, LabelCPUVendor, LabelCPUFamily, LabelCPUModel}

// Model returns the CPU model of a node, e.g. "Intel-6-143", and the label that it comes from.
// The node agent's label takes precedence over the labels of Node Feature Discovery, all three
// of which are needed to identify a model. Both results are empty if the model is not known.
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

// maxLength is the maximum length of a label value, and so of a node type.
const maxLength = 63

// modelSeparator separates a node type and a CPU model in a name. No label value can contain
// it.
const modelSeparator = "@"

// WithModel returns the name for the machines of a node type that have a given CPU model, e.g.
// "e2@Intel-6-79", truncated to 63 bytes. It returns the node type itself if the model is not
// known or if no part of it fits.
func WithModel(nodeType, model string) string {
	if model == "" {
		return nodeType
	}
	name := nodeType + modelSeparator + model
	return strings.TrimRight(name[:min(len(name), maxLength)], separators+modelSeparator)
}

// SplitModel splits a name that WithModel has joined. The model is empty if the name has none.
func SplitModel(name string) (nodeType, model string) {
	nodeType, model, _ = strings.Cut(name, modelSeparator)
	return nodeType, model
}

const separators = "-_."

var noLabelValue = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// ModelName converts the common name of a CPU model to a valid label value: "AMD EPYC 7B13"
// becomes AMD-EPYC-7B13.
func ModelName(text string) string {
	name := strings.Trim(noLabelValue.ReplaceAllString(text, "-"), separators)
	return strings.TrimRight(name[:min(len(name), maxLength)], separators)
}
