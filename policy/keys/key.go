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
	// Gone says what to do instead about a key that no longer exists; empty for all others.
	Gone string

	// field is the pointer to the field of the section that declares the key.
	field any
	// path is the path of the field in every section.
	path     []int
	standard reflect.Value
	read     func(into reflect.Value, from reader.Value) bool
	// merge merges values; nil if that of a rule replaces the other.
	merge func(own, globals reflect.Value) reflect.Value
}

// Of declares a key whose value is in a field of the section.
func Of[V any](name string, field *V, kind Kind[V], standard V, meaning string) Key {
	k := Key{Name: name, Values: kind.Values, Meaning: meaning, field: field, standard: reflect.ValueOf(&standard).Elem()}
	if kind.Text != nil {
		k.Default = kind.Text(standard)
	}
	k.read = func(into reflect.Value, from reader.Value) bool {
		v, ok := kind.Read(from)
		if ok {
			into.Set(reflect.ValueOf(&v).Elem())
		}
		return ok
	}
	if kind.Merge != nil {
		k.merge = func(own, globals reflect.Value) reflect.Value {
			return reflect.ValueOf(kind.Merge(own.Interface().(V), globals.Interface().(V)))
		}
	}
	return k
}

// Gone declares a key that no longer exists. instead is the advice in the fault.
func Gone(name, instead string) Key { return Key{Name: name, Gone: instead} }

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

// declarations has the keys of each type of section.
var declarations sync.Map

// Declared returns the keys of a section. The caller must not modify them.
func Declared[T any]() []Key {
	of := reflect.TypeFor[T]()
	if all, ok := declarations.Load(of); ok {
		return all.([]Key)
	}
	section := new(T)
	all := any(section).(Section).Keys()
	if len(all) > most {
		panic(fmt.Sprintf("keys: %s has more than %d keys", of, most))
	}
	for i, k := range all {
		if k.Gone != "" {
			continue
		}
		if all[i].path = find(reflect.ValueOf(section).Elem(), k.field); all[i].path == nil {
			panic(fmt.Sprintf("keys: %s has no field for %s", of, k.Name))
		}
	}
	declarations.Store(of, all)
	return all
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
