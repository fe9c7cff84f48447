package nodetype

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
)

// NameProblems says what is wrong with the name of a node type, nothing if a node
// can have it: the value of a label, or two that WithModel has joined.
func NameProblems(name string) []string {
	nodeType, model, joined := strings.Cut(name, modelSeparator)
	var problems []string
	if joined && (nodeType == "" || model == "") {
		problems = append(problems, fmt.Sprintf("a node type and a CPU model must be on the sides of %q", modelSeparator))
	}
	if joined && len(name) > maxLength {
		problems = append(problems, fmt.Sprintf("must be no more than %d bytes", maxLength))
	}
	return append(append(problems, content.IsLabelValue(nodeType)...), content.IsLabelValue(model)...)
}
