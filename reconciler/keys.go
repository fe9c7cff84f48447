package reconciler

import (
	"maps"
	"slices"
)

// keys are those of a pod's labels and annotations, in order. There are few different
// ones.
type keys struct{ labels, annotations []string }

// sortedKeys are those of a map; nil if that is.
func sortedKeys(m map[string]string) []string {
	if m == nil {
		return nil
	}
	sorted := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(sorted)
	return sorted
}

// encode gives equal keys the same text, and no others.
func (k *keys) encode() []byte {
	var encoded []byte
	for _, names := range [...][]string{k.labels, k.annotations} {
		if names == nil {
			encoded = append(encoded, '-') // Other than one without any.
		}
		for _, name := range names {
			encoded = append(encoded, name...)
			encoded = append(encoded, 0) // No key has it.
		}
		encoded = append(encoded, '|', 0)
	}
	return encoded
}
