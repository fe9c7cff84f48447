package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// quantityFields has the fields of pods, and of objects that create pods, that hold
// quantities: in a resource list, or directly.
var quantityFields = map[string]bool{
	"requests": true, "limits": true, "overhead": true, "capacity": true, "allocatedResources": true,
	"sizeLimit": true, "divisor": true, "quantity": true, "perPod": true, "perContainer": true,
}

// checkQuantities rejects texts that would take minutes to parse as quantities.
func checkQuantities(text []byte) error {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return implausible("", value, false)
}

// implausible searches the value of a field for such a text. quantity reports whether the
// value contains quantities.
func implausible(field string, value any, quantity bool) error {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if err := implausible(key, inner, quantity || quantityFields[key]); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := implausible(field, inner, quantity); err != nil {
				return err
			}
		}
	case string:
		return plausible(field, v, quantity)
	case json.Number:
		return plausible(field, v.String(), quantity)
	}
	return nil
}

func plausible(field, text string, quantity bool) error {
	if quantity && !sizing.Plausible(text) {
		return fmt.Errorf("%s: %.64q is not a quantity with at most 64 characters and a two-digit exponent", field, text)
	}
	return nil
}
