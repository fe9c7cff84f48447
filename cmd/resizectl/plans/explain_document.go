package plans

import (
	"encoding/json"

	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// explanation is the facts as a document, each in the form of the API.
type explanation struct {
	Plan     json.RawMessage   `json:"plan"`
	Ratio    json.RawMessage   `json:"ratio"`
	Baseline json.RawMessage   `json:"baseline"`
	Bounds   json.RawMessage   `json:"bounds"`
	Sources  []json.RawMessage `json:"sources"`
	Resize   json.RawMessage   `json:"resize"`
	Holds    []json.RawMessage `json:"holds"`
	// WithoutHolds is the plan without the freeze and the holds; null if none covers the pod.
	WithoutHolds json.RawMessage `json:"withoutHolds"`
	// Remedies say what to do about each reason, by its code.
	Remedies map[string]string `json:"remedies"`
	// Unknown says why one of these is missing, by its name.
	Unknown map[string]string `json:"unknown"`
}

func printExplanation(o *print.Output, f *facts) error {
	d := explanation{Sources: []json.RawMessage{}, Holds: []json.RawMessage{}, Remedies: map[string]string{}, Unknown: map[string]string{}}
	for _, part := range []struct {
		to      *json.RawMessage
		message proto.Message
	}{{&d.Plan, f.plan}, {&d.Ratio, f.ratio}, {&d.Baseline, f.baseline}, {&d.Bounds, f.bounds}, {&d.Resize, f.resize}, {&d.WithoutHolds, f.resumed}} {
		raw, err := orNull(part.message)
		if err != nil {
			return err
		}
		*part.to = raw
	}
	for _, source := range f.sources {
		raw, err := print.JSON(source, "")
		if err != nil {
			return err
		}
		d.Sources = append(d.Sources, raw)
	}
	for _, hold := range f.holds {
		raw, err := print.JSON(hold, "")
		if err != nil {
			return err
		}
		d.Holds = append(d.Holds, raw)
	}
	for _, code := range f.codes() {
		if remedy := f.remedy(o, code); remedy != "" {
			d.Remedies[code] = remedy
		}
	}
	for name, err := range map[string]error{"ratio": f.ratiosErr, "resize": f.resizeErr, "holds": f.holdsErr} {
		if err != nil {
			d.Unknown[name] = connect.MessageOf(err)
		}
	}
	return o.Value(d)
}

// orNull returns a message as JSON, or null if there is no message.
func orNull(m proto.Message) (json.RawMessage, error) {
	if !m.ProtoReflect().IsValid() {
		return json.RawMessage("null"), nil
	}
	return print.JSON(m, "")
}
