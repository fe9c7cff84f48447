package print

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Object returns a message for templates, columns and sorting: the fields of its JSON, except that
// integers of 64 bits are numbers, as in the objects that kubectl prints. JSON has them as strings.
func Object(m proto.Message) (map[string]any, error) {
	raw, err := JSON(m, "")
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("read the answer's JSON: %w", err)
	}
	setNumbers(m.ProtoReflect().Descriptor(), fields)
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
