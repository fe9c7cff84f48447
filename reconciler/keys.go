package reconciler

import (
	"maps"
	"slices"
)

// keys are those of a pod's labels, and then those of its annotations, packed in
// order: how many, -1 for a nil map, and each. There are few different ones.
type keys struct{ packed string }

// packAll packs a map: its keys, and its values in the order of these.
func packAll(m map[string]string, keys, values *packer) {
	if m == nil {
		keys.number(-1)
		return
	}
	keys.number(int64(len(m)))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		keys.text(key) // None is as long as longText.
		values.text(m[key])
	}
}

// unpackAll returns the next map that packAll has packed.
func unpackAll(keys, values *unpacker) map[string]string {
	n := keys.number()
	if n < 0 {
		return nil
	}
	m := make(map[string]string, n)
	for range n {
		key := keys.text()
		m[key] = values.text()
	}
	return m
}
