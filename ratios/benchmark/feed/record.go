package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	strictjson "sigs.k8s.io/json"
)

// record returns the value of a column or key as text. A missing or null value is empty;
// objects and arrays are JSON.
type record func(name string) string

// objectRecord reads a JSON object. A duplicate key is a fault, because it is ambiguous.
func objectRecord(text []byte) (record, *Fault) {
	values, fault := object(text)
	return func(name string) string { return plain(values[name]) }, fault
}

func object(text []byte) (map[string]json.RawMessage, *Fault) {
	var values map[string]json.RawMessage
	doubts, err := strictjson.UnmarshalStrict(text, &values, strictjson.DisallowDuplicateFields)
	if len(doubts) > 0 {
		return nil, doubtful(doubts[0])
	}
	if err != nil {
		return nil, unreadable(err)
	}
	if values == nil {
		return nil, &Fault{Reason: "must be a JSON object, not null"}
	}
	return values, nil
}

// plain returns the text of a JSON value.
func plain(value json.RawMessage) string {
	switch {
	case len(value) == 0 || bytes.Equal(value, []byte("null")):
		return ""
	case value[0] != '"':
		return string(value)
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	return text
}

// doubtful returns the fault for a key that the strict reader rejects.
func doubtful(err error) *Fault {
	field, _ := errors.AsType[strictjson.FieldError](err)
	if field == nil {
		return &Fault{Reason: err.Error()}
	}
	reason := "is not a known key"
	if strings.HasPrefix(err.Error(), "duplicate") {
		reason = "is set twice"
	}
	return &Fault{Field: field.FieldPath(), Reason: reason}
}

// unreadable returns the fault for a row that cannot be parsed.
func unreadable(err error) *Fault {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &Fault{Field: wrong.Field, Reason: fmt.Sprintf("must be %s, not %s", inJSON(wrong.Type), article(wrong.Value))}
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		return &Fault{Field: "time", Reason: "must be a time such as 2026-01-02T15:04:05Z, not " + quoted(wrong.Value)}
	}
	// The errors of decoders are about the characters that they expect in the middle of a word.
	if isSyntax, offset := syntaxOffset(err); isSyntax {
		if strings.HasPrefix(err.Error(), "unexpected end") {
			return &Fault{Reason: "is not JSON: it ends early"}
		}
		return &Fault{Reason: fmt.Sprintf("is not JSON: byte %d is wrong", offset)}
	}
	return &Fault{Reason: "is not JSON: " + strings.TrimPrefix(err.Error(), "json: ")}
}

// syntaxOffset reports whether text is not JSON, and where it is wrong.
func syntaxOffset(err error) (bool, int64) {
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return true, wrong.Offset
	}
	return strictjson.SyntaxErrorOffset(err)
}

// inJSON returns what a value of a type is called in JSON.
func inJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	}
	return "a number"
}

// article returns the kind of a value, as encoding/json calls it, for a message.
func article(kind string) string {
	switch kind {
	case "array", "object":
		return "an " + kind
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	}
	return quoted(kind)
}

// within prepends the field that contains the faulty text.
func (f *Fault) within(field string) *Fault {
	if f == nil {
		return nil
	}
	return &Fault{Line: f.Line, Field: strings.TrimSuffix(field+"."+f.Field, "."), Reason: f.Reason}
}
