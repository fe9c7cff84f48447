package keys

import (
	"reflect"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/reader"
)

// most is the maximum number of keys of a section.
const most = 128

// Partial is a section of which some keys are set.
type Partial[T any] struct {
	// Values has the values of the keys that are set.
	Values T
	set    [most / 64]uint64
}

// Some returns a section that sets the keys whose values are not the zero values of their types, and those
// that have these names, or are below one of them.
func Some[T any](values T, names ...string) Partial[T] {
	p := Partial[T]{Values: values}
	section := reflect.ValueOf(&p.Values).Elem()
	for i, k := range Declared[T]() {
		if k.Gone == "" && (k.isAmong(names) || !section.FieldByIndex(k.path).IsZero()) {
			p.mark(i)
		}
	}
	return p
}

// Defaults returns a section in which every key has its default.
func Defaults[T any]() T { return (&Partial[T]{}).Complete() }

func (p *Partial[T]) mark(i int)     { p.set[i/64] |= 1 << (i % 64) }
func (p *Partial[T]) has(i int) bool { return p.set[i/64]&(1<<(i%64)) != 0 }

// IsEmpty reports whether no key is set.
func (p *Partial[T]) IsEmpty() bool { return p.set == [len(p.set)]uint64{} }

// Sets reports whether any of these keys is set, or a key below one of them.
func (p *Partial[T]) Sets(names ...string) bool {
	declared := Declared[T]()
	for i := range declared {
		if p.has(i) && declared[i].isAmong(names) {
			return true
		}
	}
	return false
}

// Over returns the section with what it does not set from the globals.
func (p Partial[T]) Over(globals Partial[T]) Partial[T] {
	all := globals
	into, own := reflect.ValueOf(&all.Values).Elem(), reflect.ValueOf(&p.Values).Elem()
	for i, k := range Declared[T]() {
		if !p.has(i) {
			continue
		}
		value := own.FieldByIndex(k.path)
		if k.merge != nil && globals.has(i) {
			value = k.merge(value, into.FieldByIndex(k.path))
		}
		into.FieldByIndex(k.path).Set(value)
		all.mark(i)
	}
	return all
}

// Equal reports whether two sections set the same keys to the same values. Tests compare layers with it, by go-cmp.
func (p Partial[T]) Equal(o Partial[T]) bool { return reflect.DeepEqual(p, o) }

// Complete returns the values, with the defaults of the keys that are not set.
func (p *Partial[T]) Complete() T {
	values := p.Values
	section := reflect.ValueOf(&values).Elem()
	for i, k := range Declared[T]() {
		if k.Gone == "" && !p.has(i) {
			section.FieldByIndex(k.path).Set(k.standard)
		}
	}
	return values
}

// Known returns the functions that read the keys into the section.
func (p *Partial[T]) Known() reader.Known { return p.below("") }

// below returns the functions that read the keys whose names begin with a prefix.
func (p *Partial[T]) below(prefix string) reader.Known {
	all := reader.Known{}
	declared := Declared[T]()
	for i := range declared {
		k := &declared[i]
		name, ok := strings.CutPrefix(k.Name, prefix)
		name, _, nested := strings.Cut(name, ".")
		if !ok || all[name] != nil {
			continue
		}
		all[name] = func(v reader.Value) {
			switch {
			case nested:
				v.Fields(p.below(prefix + name + "."))
			case k.Gone != "":
				v.Fault("no longer exists: %s", k.Gone)
			case k.read(reflect.ValueOf(&p.Values).Elem().FieldByIndex(k.path), v):
				p.mark(i)
			}
		}
	}
	return all
}

// Read reads the section, and reports whether there was no fault.
func (p *Partial[T]) Read(v reader.Value) bool { return v.Fields(p.Known()) }
