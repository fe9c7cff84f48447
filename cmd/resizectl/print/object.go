package print

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Object returns a value for templates, columns and sorting: the fields of its JSON. In those of a message,
// integers of 64 bits are numbers, as in the objects that kubectl prints. JSON has them as strings.
func Object(value any) (map[string]any, error) {
	if row, is := value.(interface{ InAPI() proto.Message }); is && row.InAPI() != nil {
		value = row.InAPI()
	}
	fields, err := fieldsOf[any](value)
	if m, is := value.(proto.Message); is && err == nil {
		setNumbers(m.ProtoReflect().Descriptor(), fields)
	}
	return fields, err
}

// fieldsOf returns the fields of a value's JSON.
func fieldsOf[V any](value any) (map[string]V, error) {
	raw, err := rawOf(value)
	if err != nil {
		return nil, err
	}
	fields := map[string]V{}
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("read the answer's JSON: %w", err)
	}
	return fields, nil
}

// setNumbers gives the fields of a message the numeric types that they have in the API.
func setNumbers(message protoreflect.MessageDescriptor, fields map[string]any) {
	for name, value := range fields {
		if field := message.Fields().ByJSONName(name); field != nil {
			fields[name] = typed(field, value)
		}
	}
}

// typed returns a value of a field with the numeric types that it has in the API.
func typed(field protoreflect.FieldDescriptor, value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = typed(field, v[i])
		}
	case map[string]any:
		if field.IsMap() {
			for key := range v {
				v[key] = typed(field.MapValue(), v[key])
			}
		} else {
			setNumbers(field.Message(), v)
		}
	case int64:
		if kind := field.Kind(); kind == protoreflect.DoubleKind || kind == protoreflect.FloatKind {
			return float64(v)
		}
	case string:
		switch field.Kind() {
		case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				return n
			}
		}
	}
	return value
}
