package pod

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"
	"unique"
)

// texts are those that a pod has for itself, in one piece of memory: each by itself would
// have a header of 16 bytes, and what the allocator adds. They are the resource version,
// the controller's name and uid, and the values of labels and of annotations. The keys of
// these are the same for all pods of a workload, and mostly for others as well, so they
// are there once.
type texts struct {
	// labelKeys and annotationKeys are sorted, each closed by a zero byte, which no key of
	// the API server's has.
	labelKeys, annotationKeys unique.Handle[string]
	// values are each after its length plus one; a zero in place of that stands for the
	// next of those that are shared.
	values string
	// labelsAt and annotationsAt are where theirs begin.
	labelsAt, annotationsAt uint32
}

// longText is from how many bytes on a value is shared, which takes some 200 by itself.
const longText = 320

// writer writes texts.
type writer struct {
	values []byte
	long   []unique.Handle[string]
}

func (w *writer) add(value string) {
	value = strings.ToValidUTF8(value, "\uFFFD")
	w.values = append(binary.AppendUvarint(w.values, uint64(len(value))+1), value...)
}

// share adds a value that is shared if it is long.
func (w *writer) share(value string) {
	if len(value) < longText {
		w.add(value)
		return
	}
	w.values = binary.AppendUvarint(w.values, 0)
	w.long = append(w.long, unique.Make(strings.ToValidUTF8(value, "\uFFFD")))
}

// addAll adds the values of those keys that are kept, and returns these and where the
// values begin. A manifest may have keys with zero bytes, which no pod can have.
func (w *writer) addAll(m map[string]string, add func(value string), keep func(key string) bool) (unique.Handle[string], uint32) {
	var keys []byte
	at := len(w.values)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if keep(key) && !strings.Contains(key, "\x00") {
			keys = append(append(keys, key...), 0)
			add(m[key])
		}
	}
	return handleOf(string(keys)), uint32(at)
}

// next returns the text at a place, and moves on. It must be none that is shared.
func (t *texts) next(at *int) string {
	n, size := uvarint(t.values[*at:])
	from := *at + size
	*at = from + int(n) - 1
	return t.values[from:*at]
}

func (t *texts) labels() Texts {
	return Texts{keys: t.labelKeys, values: t.values[t.labelsAt:]}
}

func (t *texts) annotations(long []unique.Handle[string]) Texts {
	return Texts{t.annotationKeys, t.values[t.annotationsAt:], long}
}

// Texts are labels or annotations. They are labels.Labels.
type Texts struct {
	keys   unique.Handle[string]
	values string
	long   []unique.Handle[string]
}

// All are the keys, in their order, and their values.
func (t Texts) All() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		keys, values, long := textOf(t.keys), t.values, t.long
		for keys != "" {
			var key, value string
			key, keys, _ = strings.Cut(keys, "\x00")
			n, size := uvarint(values)
			values = values[size:]
			if n == 0 {
				value, long = long[0].Value(), long[1:]
			} else {
				value, values = values[:n-1], values[n-1:]
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// uvarint is binary.Uvarint of a text that AppendUvarint has written.
func uvarint(s string) (n uint64, size int) {
	for shift := 0; ; shift += 7 {
		b := s[size]
		size++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, size
		}
	}
}

// Lookup returns the value of a key, and whether there is one.
func (t Texts) Lookup(key string) (value string, ok bool) {
	for k, v := range t.All() {
		if k == key {
			return v, true
		}
	}
	return "", false
}

// Has reports whether there is a key.
func (t Texts) Has(key string) bool {
	_, ok := t.Lookup(key)
	return ok
}

// Get returns the value of a key, "" if there is none.
func (t Texts) Get(key string) string {
	value, _ := t.Lookup(key)
	return value
}
