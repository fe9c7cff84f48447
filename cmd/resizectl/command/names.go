package command

import (
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// CheckNamespace returns an error for a string that cannot be the name of a namespace. instead is what to
// do to select all pods.
func CheckNamespace(cmd *cobra.Command, namespace, instead string) error {
	if namespace == "" {
		return UsageErrorf(cmd, "the namespace is empty; %s", instead)
	}
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return UsageErrorf(cmd, "%q is not the name of a namespace: it must consist of lowercase letters, digits and -, such as my-shop", namespace)
	}
	return nil
}

// CheckSelector returns an error for a string that is not a label selector.
func CheckSelector(cmd *cobra.Command, selector string) error {
	_, err := labels.Parse(selector)
	if err == nil {
		return nil
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return UsageErrorf(cmd, "--selector %q is not a label selector, such as app=web,tier!=cache: %w", selector, err)
}

// Name is a step that stores the argument, if there is one. An empty name is an error that says so: a script
// passes one if a variable is not set.
func Name(to *string, empty string) Step {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if *to = args[0]; *to == "" {
			return UsageErrorf(cmd, "%s", empty)
		}
		return nil
	}
}
