package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// quantityFields are the fields, in pods and in objects that create pods, whose values
// are quantities or lists of resources.
var quantityFields = map[string]bool{
	"requests": true, "limits": true, "overhead": true, "capacity": true, "allocatedResources": true,
	"sizeLimit": true, "divisor": true, "quantity": true, "perPod": true, "perContainer": true,
}

// level is an object or array in JSON.
type level struct {
	object bool
	// key reports whether the next token of an object is a key.
	key bool
	// field is the last key. For an array, it is the key of the array in its object.
	field string
	// quantity reports whether everything inside is a quantity.
	quantity bool
	// inside is the number of objects and arrays directly in it, and index the number of the next
	// element of an array.
	inside, index int
}

// pathOf returns the path of the value that was read last.
func pathOf(stack []level) string {
	path := ""
	for i := range stack[1:] {
		if l := &stack[1+i]; l.object {
			path = below(path, l.field)
		} else {
			path += fmt.Sprintf("[%d]", l.index-1)
		}
	}
	return path
}

// mostContainers is how many containers a pod may have: each takes 1.5 KB once it is decoded,
// even if its text has ten bytes.
const mostContainers = 10_000

// mostStructures is how many objects and arrays the objects of a manifest may have that are
// decoded: {} can take 1.5 KB then, and has two bytes.
const mostStructures = 40_000

// checkCost refuses an object that would take too much memory to decode, or minutes to parse as
// quantities. It keeps only its position in the JSON. structures counts the objects and arrays of the manifest.
func checkCost(text []byte, structures *int) *fault {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	stack := []level{{}}
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &fault{problem: err.Error()}
		}
		at := &stack[len(stack)-1]
		if closes := token == json.Delim('}') || token == json.Delim(']'); !closes && !at.key {
			at.index++
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '}' || v == ']' {
				stack = stack[:len(stack)-1]
				continue
			}
			at.key = at.object
			if *structures++; *structures > mostStructures {
				return &fault{path: pathOf(stack), problem: fmt.Sprintf("the manifest has more than %d objects and lists up to here: split it", mostStructures)}
			}
			if at.inside++; at.inside > mostContainers && (at.field == "containers" || at.field == "initContainers") {
				return &fault{path: pathOf(stack[:len(stack)-1]), problem: fmt.Sprintf("has more than %d elements", mostContainers)}
			}
			stack = append(stack, level{object: v == '{', key: v == '{', field: at.field, quantity: at.quantity || quantityFields[at.field]})
			continue
		case string:
			if at.key {
				at.field, at.key = v, false
				continue
			}
			if !at.plausible(v) {
				return implausible(stack, v)
			}
		case json.Number:
			if !at.plausible(v.String()) {
				return implausible(stack, v.String())
			}
		}
		at.key = at.object
	}
}

// plausible reports whether text at this place is no quantity, or can be one.
func (l *level) plausible(text string) bool {
	return !l.quantity && !quantityFields[l.field] || sizing.Plausible(text)
}

func implausible(stack []level, text string) *fault {
	return &fault{path: pathOf(stack), problem: fmt.Sprintf("%.64q is not a quantity of at most 64 characters and two digits of exponent", text)}
}
