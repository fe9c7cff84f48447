package nodetype

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
)

// NameProblems returns what is wrong with the name of a node type; nothing if it is valid. A
// valid name is a label value, or two label values that WithModel has joined.
func NameProblems(name string) []string {
	nodeType, model, joined := strings.Cut(name, modelSeparator)
	var problems []string
	if joined && (nodeType == "" || model == "") {
		problems = append(problems, fmt.Sprintf("must have a node type before and a CPU model after %q", modelSeparator))
	}
	if joined && len(name) > maxLength {
		problems = append(problems, fmt.Sprintf("must be no more than %d bytes", maxLength))
	}
	return append(append(problems, content.IsLabelValue(nodeType)...), content.IsLabelValue(model)...)
}
