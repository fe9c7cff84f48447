package pod

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"
	"unique"
)

// texts holds the strings that only this pod has, in one piece of memory: separate strings
// would each need a header of 16 bytes, plus the overhead of the allocator. They are the
// resource version, the controller's name and uid, and the values of labels and
// annotations. The keys of labels and annotations are the same for all pods of a workload,
// and usually for other pods too, so they are interned.
type texts struct {
	// labelKeys and annotationKeys are sorted. A zero byte terminates each key; no key in
	// the API server contains one.
	labelKeys, annotationKeys unique.Handle[string]
	// values holds the values, each preceded by its length plus one. A zero in place of the
	// length stands for the next shared value.
	values string
	// labelsAt and annotationsAt are where the values of labels and annotations start.
	labelsAt, annotationsAt uint32
}

// longText is the length in bytes from which a value is shared. Sharing a value costs about 200
// bytes.
const longText = 320

// writer encodes texts.
type writer struct {
	values []byte
	long   []unique.Handle[string]
}

func (w *writer) add(value string) {
	value = strings.ToValidUTF8(value, "\uFFFD")
	w.values = append(binary.AppendUvarint(w.values, uint64(len(value))+1), value...)
}

// share adds a value, and shares it if it is long.
func (w *writer) share(value string) {
	if len(value) < longText {
		w.add(value)
		return
	}
	w.values = binary.AppendUvarint(w.values, 0)
	w.long = append(w.long, unique.Make(strings.ToValidUTF8(value, "\uFFFD")))
}

// addAll adds the values of the keys to keep, and returns these keys and where the values
// start. It skips keys with zero bytes: a manifest may have them, but no pod can.
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

// next returns the string at a position, and advances the position. The string must not be
// a shared one.
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

// Texts are labels or annotations. They implement labels.Labels.
type Texts struct {
	keys   unique.Handle[string]
	values string
	long   []unique.Handle[string]
}

// All returns the keys, sorted, and their values.
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

// Kept returns the texts in memory that is shared with all pods that have the same, so that
// keeping them does not keep a pod.
func (t Texts) Kept() Texts {
	return Texts{t.keys, unique.Make(t.own()).Value(), slices.Clone(t.long)}
}

// Equal reports whether both have the same keys and values.
func (t Texts) Equal(other Texts) bool {
	return t.keys == other.keys && t.own() == other.own() && slices.Equal(t.long, other.long)
}

// own returns the part of the values that belongs to the keys.
func (t Texts) own() string {
	rest := t.values
	for range strings.Count(textOf(t.keys), "\x00") {
		n, size := uvarint(rest)
		rest = rest[size+int(max(n, 1)-1):]
	}
	return t.values[:len(t.values)-len(rest)]
}

// uvarint is like binary.Uvarint, for a string that AppendUvarint has written.
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

// Lookup returns the value of a key, and whether the key exists.
func (t Texts) Lookup(key string) (value string, ok bool) {
	for k, v := range t.All() {
		if k == key {
			return v, true
		}
	}
	return "", false
}

// Has reports whether a key exists.
func (t Texts) Has(key string) bool {
	_, ok := t.Lookup(key)
	return ok
}

// Get returns the value of a key; "" if the key does not exist.
func (t Texts) Get(key string) string {
	value, _ := t.Lookup(key)
	return value
}
