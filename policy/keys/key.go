package keys

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/workload-resizer/workload-resizer/internal/reader"
)

// Section is a struct that has the values of keys.
type Section interface {
	// Keys declares the keys. It is called for one value of the type, not for each.
	Keys() []Key
}

// Key is the declaration of a key.
type Key struct {
	// Name is the path of the key in its section, such as pressure.cpu.
	Name string
	// Values, Default and Meaning describe the key in the reference.
	Values, Default, Meaning string

	field any // The pointer to the field of the section that declares the key.
	path  []int
	value value
}

// value reads and changes the values of a key. The parameters are pointers to them.
type value interface {
	read(into any, from reader.Value) bool
	merge(into, own, globals any)
	reset(into any)
}

// Of declares a key whose value is in a field of the section.
func Of[V any](name string, field *V, kind Kind[V], standard V, meaning string) Key {
	k := Key{Name: name, Values: kind.Values, Meaning: meaning, field: field, value: typed[V]{kind, standard}}
	if kind.Text != nil {
		k.Default = kind.Text(standard)
	}
	return k
}

// Or replaces the description of the default.
func (k Key) Or(text string) Key {
	k.Default = text
	return k
}

// Below moves keys below another key.
func Below(name string, all ...Key) []Key {
	for i := range all {
		all[i].Name = name + "." + all[i].Name
	}
	return all
}

// isAmong reports whether the key has one of these names, or is below one of them.
func (k *Key) isAmong(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		below, ok := strings.CutPrefix(k.Name, name)
		return ok && (below == "" || below[0] == '.')
	})
}

// Kind is a kind of values.
type Kind[V any] struct {
	// Values describes the values in the reference.
	Values string
	// Read reads a value. It returns false if none is set: there is none, or a fault.
	Read func(reader.Value) (V, bool)
	// Text returns a value as users write it; nil if defaults of the kind have no description.
	Text func(V) string
	// Merge merges a value that a rule sets with that of the globals; nil if that of the rule
	// replaces the other.
	Merge func(own, globals V) V
}

type typed[V any] struct {
	kind     Kind[V]
	standard V
}

func (t typed[V]) read(into any, from reader.Value) bool {
	v, ok := t.kind.Read(from)
	if ok {
		*into.(*V) = v
	}
	return ok
}

func (t typed[V]) merge(into, own, globals any) {
	v := *own.(*V)
	if t.kind.Merge != nil {
		v = t.kind.Merge(v, *globals.(*V))
	}
	*into.(*V) = v
}

func (t typed[V]) reset(into any) { *into.(*V) = t.standard }

// declaration has the keys of a type of section.
type declaration struct {
	keys []Key
	tree tree
}

// tree has the keys by the elements of their names.
type tree map[string]*node

// node is a key, or has keys below it.
type node struct {
	key   int
	below tree
}

func (t tree) add(name string, key int) {
	first, rest, below := strings.Cut(name, ".")
	if !below {
		t[first] = &node{key: key}
		return
	}
	if t[first] == nil {
		t[first] = &node{below: tree{}}
	}
	t[first].below.add(rest, key)
}

// declarations has the declaration of each type of section.
var declarations sync.Map

func declared[T any]() *declaration {
	of := reflect.TypeFor[T]()
	if d, ok := declarations.Load(of); ok {
		return d.(*declaration)
	}
	section := new(T)
	d := &declaration{keys: any(section).(Section).Keys(), tree: tree{}}
	if len(d.keys) > most {
		panic(fmt.Sprintf("keys: %s has more than %d keys", of, most))
	}
	for i, k := range d.keys {
		if d.keys[i].path = find(reflect.ValueOf(section).Elem(), k.field); d.keys[i].path == nil {
			panic(fmt.Sprintf("keys: %s has no field for %s", of, k.Name))
		}
		d.tree.add(k.Name, i)
	}
	declarations.Store(of, d)
	return d
}

// find returns the path to a field by its pointer; nil if the struct does not have it.
func find(in reflect.Value, field any) []int {
	if in.Addr().Interface() == field {
		return []int{}
	}
	if in.Kind() != reflect.Struct {
		return nil
	}
	for i := range in.NumField() {
		if in.Type().Field(i).IsExported() {
			if path := find(in.Field(i), field); path != nil {
				return append([]int{i}, path...)
			}
		}
	}
	return nil
}

// at returns the pointer to the value of the key in a section.
func (k *Key) at(section reflect.Value) any { return section.FieldByIndex(k.path).Addr().Interface() }
