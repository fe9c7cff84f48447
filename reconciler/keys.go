package reconciler

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// keys are those of a pod's maps, packed in order: how many, -1 for a nil map, and each.
// There are few different ones.
type keys struct{ packed string }

// mapPacker packs maps of a pod: their keys apart from the values.
type mapPacker struct {
	pod    *corev1.Pod
	keys   packer
	values *packer
}

// mapUnpacker returns what mapPacker has packed, in the same order. The pod has its
// containers' names.
type mapUnpacker struct {
	pod    *corev1.Pod
	keys   unpacker
	values *unpacker
}

// packAll packs a map, and the texts of its values in the order of the keys.
func packAll[K ~string, V any](p *mapPacker, m map[K]V, text func(V) string) {
	if m == nil {
		p.keys.number(-1)
		return
	}
	p.keys.number(int64(len(m)))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		p.key(string(key))
		p.values.text(text(m[key]))
	}
}

// unpackAll returns the next map that packAll has packed, of whose values it was given
// the texts.
func unpackAll[K ~string, V any](u *mapUnpacker, value func(string) V) map[K]V {
	n := u.keys.number()
	if n < 0 {
		return nil
	}
	m := make(map[K]V, n)
	for range n {
		key := K(u.key())
		m[key] = value(u.values.text())
	}
	return m
}

// whole stands for a key that has no container's name.
const whole = -1

// key packs a key. Many end with the name of a container, which is the pod's own.
func (p *mapPacker) key(key string) {
	i := int64(0)
	for c := range containersOf(p.pod) {
		if begin, ok := strings.CutSuffix(key, c.Name); ok && strings.HasSuffix(begin, ".") {
			p.keys.number(i)
			p.keys.text(begin)
			return
		}
		i++
	}
	p.keys.number(whole)
	p.keys.text(key) // None is as long as longText.
}

func (u *mapUnpacker) key() string {
	i, key := u.keys.number(), u.keys.text()
	if i == whole {
		return key
	}
	for c := range containersOf(u.pod) {
		if i == 0 {
			return key + c.Name
		}
		i--
	}
	panic("a key has the name of a container that its pod does not have")
}

// itself is what the text of a text is.
func itself(text string) string { return text }
