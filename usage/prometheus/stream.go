package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/prometheus/common/model"
)

// vector is the answer to a query of a vector. Its elements are taken while it arrives: together, they would need many times
// the memory.
type vector struct {
	take func(Element)
	// kind is what the answer has; empty if that is nothing.
	kind string
}

// sendOnce sends a query of a vector. It returns the answer without the elements.
func (a *answers) sendOnce(ctx context.Context, r *http.Request) (*http.Response, []byte, error) {
	response, err := a.http.Do(r.WithContext(ctx))
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	read := a.vector.read
	if response.StatusCode != http.StatusOK {
		read = io.ReadAll
	}
	rest, err := read(response.Body)
	return response, rest, err
}

// answerParts are the parts of an answer besides its data. A hostile answer could have millions of others.
var answerParts = []string{"status", "errorType", "error", "warnings", "infos", "isPartial"}

// read reads an answer, and returns it without the elements.
func (v *vector) read(body io.Reader) ([]byte, error) {
	in, rest := json.NewDecoder(body), map[string]json.RawMessage{}
	err := fields(in, func(name string) error {
		if name == "data" {
			rest[name] = json.RawMessage(`{"resultType":"vector","result":[]}`)
			return v.readData(in)
		}
		var other json.RawMessage
		err := in.Decode(&other)
		if slices.Contains(answerParts, name) {
			rest[name] = other
		}
		return err
	})
	if err == nil {
		if _, err = in.Token(); err == nil {
			err = errors.New("something follows it")
		} else if errors.Is(err, io.EOF) {
			return json.Marshal(rest)
		}
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("read the answer: %w", err)
}

// readData reads the data of an answer.
func (v *vector) readData(in *json.Decoder) error {
	return fields(in, func(name string) error {
		switch {
		case name == "resultType":
			return in.Decode(&v.kind)
		case name == "result" && (v.kind == "vector" || v.kind == ""):
			return v.readElements(in)
		default:
			return in.Decode(new(json.RawMessage))
		}
	})
}

// readElements reads the elements of a vector.
func (v *vector) readElements(in *json.Decoder) error {
	if is, err := open(in, '['); !is {
		return err
	}
	var e element
	for in.More() {
		e.Metric, e.Value[1] = labels{}, e.Value[1][:0]
		read := &e
		if err := in.Decode(&read); err != nil {
			return err
		}
		if read == nil || len(e.Value[1]) == 0 {
			continue // A histogram has no value.
		}
		var value model.SampleValue
		if err := value.UnmarshalJSON(e.Value[1]); err != nil {
			return err
		}
		v.take(Element{e.Metric.Namespace, e.Metric.Pod, e.Metric.Workload, float64(value)})
	}
	_, err := in.Token()
	return err
}

// element is an element as an answer has it: its value follows a time. Its memory is used again for the next one.
type element struct {
	Metric labels             `json:"metric"`
	Value  [2]json.RawMessage `json:"value"`
}

// labels are the labels that count. The case of a label matters, but not to encoding/json, which takes a name that no field
// has exactly for the first field that has its letters: it ends in one that ignores it.
type labels struct {
	OtherNamespace ignored `json:"NAMESPACE"`
	OtherPod       ignored `json:"POD"`
	OtherWorkload  ignored `json:"WORKLOAD"`

	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Workload  string `json:"workload"`
}

// ignored is the value of a label that does not count.
type ignored struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// fields reads an object, and calls read for the value of each of its fields. Null has none.
func fields(in *json.Decoder, read func(name string) error) error {
	if is, err := open(in, '{'); !is {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		if err := read(fmt.Sprint(name)); err != nil {
			return err
		}
	}
	_, err := in.Token()
	return err
}

// open reads the beginning of an object or a list; false without an error if there is null instead.
func open(in *json.Decoder, want json.Delim) (is bool, err error) {
	token, err := in.Token()
	if err == nil && token != nil && token != want {
		err = fmt.Errorf("it has %v instead of %v", token, want)
	}
	return err == nil && token != nil, err
}
