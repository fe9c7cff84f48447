package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// misfit returns the first value in JSON that does not fit a type, at its path; nil if all fit. Errors of
// decoders name neither indices nor, for quantities, any field.
func misfit(text json.RawMessage, typ reflect.Type, path string) *fault {
	text = bytes.TrimSpace(text)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if string(text) == "null" {
		return nil
	}
	if reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) || typ == reflect.TypeFor[[]byte]() {
		return misfitLeaf(text, typ, path)
	}
	switch typ.Kind() {
	case reflect.Struct:
		return misfitStruct(text, typ, path)
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(text, &items) != nil {
			return misfitLeaf(text, typ, path)
		}
		for i, item := range items {
			if f := misfit(item, typ.Elem(), fmt.Sprintf("%s[%d]", path, i)); f != nil {
				return f
			}
		}
	case reflect.Map:
		var values map[string]json.RawMessage
		if json.Unmarshal(text, &values) != nil {
			return misfitLeaf(text, typ, path)
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if f := misfit(values[key], typ.Elem(), below(path, key)); f != nil {
				return f
			}
		}
	default:
		return misfitLeaf(text, typ, path)
	}
	return nil
}

func misfitStruct(text json.RawMessage, typ reflect.Type, path string) *fault {
	var values map[string]json.RawMessage
	if json.Unmarshal(text, &values) != nil {
		return misfitLeaf(text, typ, path)
	}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		var f *fault
		if value, ok := values[name]; ok && name != "" {
			f = misfit(value, field.Type, below(path, name))
		} else if name == "" && field.Anonymous {
			f = misfitStruct(text, field.Type, path)
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// misfitLeaf checks a value as a whole.
func misfitLeaf(text json.RawMessage, typ reflect.Type, path string) *fault {
	if json.Unmarshal(text, reflect.New(typ).Interface()) == nil {
		return nil
	}
	must := "does not fit"
	switch kind := typ.Kind(); {
	case typ == reflect.TypeFor[resource.Quantity]():
		must = "is not a quantity, such as 500m or 256Mi"
	case kind == reflect.String:
		must = "is not a string"
	case kind == reflect.Bool:
		must = "is neither true nor false"
	case reflect.Int <= kind && kind <= reflect.Uint64:
		must = "is not an integer in range"
	case kind == reflect.Slice:
		must = "is not a list"
	case kind == reflect.Struct, kind == reflect.Map:
		must = "is not a mapping"
	}
	return &fault{path: path, problem: fmt.Sprintf("%.64s %s", text, must)}
}

func below(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }
