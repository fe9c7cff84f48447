package work

import (
	"fmt"
	"path"
	"strings"
)

// annotationPrefix and the name of a container are the key of the annotation that declares the
// container's work.
const annotationPrefix = "work.testcluster.local/"

// ContainerOf returns the name of the container whose work an annotation declares, if it
// declares any.
func ContainerOf(annotation string) (container string, declares bool) {
	return strings.CutPrefix(annotation, annotationPrefix)
}

// Annotation returns the key of the annotation that declares a container's work.
func Annotation(container string) string { return annotationPrefix + container }

// Rule declares the work of the containers that match a pattern.
type Rule struct {
	// Pattern is NAMESPACE/POD/CONTAINER, where * stands for any part of a name.
	Pattern string `json:"pattern"`
	// Text is the work, as in an annotation.
	Text string `json:"text"`
}

// Check returns an error unless the rule has a pattern and work.
func (r Rule) Check() error {
	if _, err := path.Match(r.Pattern, ""); err != nil {
		return fmt.Errorf("pattern %q: %w", r.Pattern, err)
	}
	if strings.Count(r.Pattern, "/") != 2 {
		return fmt.Errorf("pattern %q is not NAMESPACE/POD/CONTAINER", r.Pattern)
	}
	_, err := Parse(r.Text)
	return err
}

// Declared returns the work of a container: that of the pod's annotation, of the first rule
// that matches, or nil.
func Declared(namespace, pod, container string, annotations map[string]string, rules []Rule) (*Work, error) {
	if text, found := annotations[Annotation(container)]; found {
		work, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %w", Annotation(container), err)
		}
		return work, nil
	}
	for _, rule := range rules {
		// Rules have been checked.
		if matched, _ := path.Match(rule.Pattern, path.Join(namespace, pod, container)); matched {
			return Parse(rule.Text)
		}
	}
	return nil, nil
}
