package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// OneOf returns the value of a flag that accepts one of several words. kind is what the help
// calls them.
func OneOf[T ~string](value *T, kind string, words []string) pflag.Value {
	return choice[T]{value, kind, words}
}

type choice[T ~string] struct {
	value *T
	kind  string
	words []string
}

// String implements pflag.Value.
func (c choice[T]) String() string { return string(*c.value) }

// Set implements pflag.Value.
func (c choice[T]) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.words, ", "))
	}
	*c.value = T(s)
	return nil
}

// Type implements pflag.Value.
func (c choice[T]) Type() string { return c.kind }
