package plans

import (
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// explanation is the facts as a document, each in the form of the API.
type explanation struct {
	Plan     json.RawMessage   `json:"plan"`
	Ratio    json.RawMessage   `json:"ratio"`
	Baseline json.RawMessage   `json:"baseline"`
	Bounds   json.RawMessage   `json:"bounds"`
	Resize   json.RawMessage   `json:"resize"`
	Holds    []json.RawMessage `json:"holds"`
	// Unknown says why one of these is missing, by its name.
	Unknown map[string]string `json:"unknown"`
}

func printExplanation(w io.Writer, output print.Format, f *facts) error {
	d := explanation{Holds: []json.RawMessage{}, Unknown: map[string]string{}}
	for _, part := range []struct {
		to      *json.RawMessage
		message proto.Message
	}{{&d.Plan, f.plan}, {&d.Ratio, f.ratio}, {&d.Baseline, f.baseline}, {&d.Bounds, f.bounds}, {&d.Resize, f.resize}} {
		raw, err := orNull(part.message)
		if err != nil {
			return err
		}
		*part.to = raw
	}
	for _, hold := range f.holds {
		raw, err := print.JSON(hold, "")
		if err != nil {
			return err
		}
		d.Holds = append(d.Holds, raw)
	}
	for name, err := range map[string]error{"ratio": f.ratiosErr, "resize": f.resizeErr, "holds": f.holdsErr} {
		if err != nil {
			d.Unknown[name] = connect.MessageOf(err)
		}
	}
	out, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("write the explanation as JSON: %w", err)
	}
	if output == print.FormatYAML {
		out, err = yaml.JSONToYAML(out)
	} else {
		out = append(out, '\n')
	}
	if err != nil {
		return fmt.Errorf("write the explanation as YAML: %w", err)
	}
	_, err = w.Write(out)
	return err
}

// orNull returns a message as JSON, or null if there is no message.
func orNull(m proto.Message) (json.RawMessage, error) {
	if !m.ProtoReflect().IsValid() {
		return json.RawMessage("null"), nil
	}
	return print.JSON(m, "")
}
