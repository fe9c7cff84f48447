package policy

import (
	"net/url"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Objective is a query whose value shows whether pods are well.
type Objective struct {
	// Name is unique in the list, and a DNS label.
	Name string
	// Prometheus is the URL of the Prometheus that answers the query.
	Prometheus string
	// Query is in PromQL.
	Query string
	// Above or Below is the threshold: a value beyond it breaks the objective. The other is nil.
	Above, Below *float64
}

// Keys implements keys.Section.
func (o *Objective) Keys() []keys.Key {
	threshold := keys.Optional(keys.Number("a number", "must be a finite number", keys.Finite))
	return []keys.Key{
		keys.Of("name", &o.Name, objectiveName, "", "a name that no other objective in the list has"),
		keys.Of("prometheus", &o.Prometheus, address, "", "a Prometheus, or anything with its API. If usage is read from this URL, too, the same tenant and credentials are used. With the component `network-policy`, allow its port"),
		keys.Of("query", &o.Query, keys.Text, "", "PromQL for a vector whose elements have the labels `namespace` and `pod`, or `namespace` and `workload` (the name of a controller of the pod). Elements without them are ignored, unless none has them. The answer may have 24 MiB"),
		keys.Of("above", &o.Above, threshold, nil, "a value above this number breaks the objective; a pod without a value meets it"),
		keys.Of("below", &o.Below, threshold, nil, "a value below this number breaks the objective. An objective has either this key or `above`"),
	}
}

// IsBrokenBy reports whether a value breaks the objective. NaN does not: it is the value of a query
// without measurements.
func (o *Objective) IsBrokenBy(value float64) bool {
	return o.Above != nil && value > *o.Above || o.Below != nil && value < *o.Below
}

// Worse returns which of two values is further from the objective, or the one that is not NaN.
func (o *Objective) Worse(a, b float64) float64 {
	if b != b || o.Above != nil && a > b || o.Below != nil && a < b {
		return a
	}
	return b
}

// mostObjectives is the maximum number of objectives: each is a query every few seconds.
const mostObjectives = 10

var objectives = keys.List("up to 10", mostObjectives, "objectives", readObjective)

// readObjective reads an objective whose name must differ from those of others.
func readObjective(v reader.Value, others []Objective) Objective {
	var read keys.Partial[Objective]
	o, known := &read.Values, read.Known()
	readName := known["name"]
	known["name"] = func(v reader.Value) {
		if readName(v); slices.ContainsFunc(others, func(other Objective) bool { return o.Name != "" && other.Name == o.Name }) {
			v.Fault("%q is already the name of an objective", o.Name)
		}
	}
	if !v.Fields(known) {
		return *o
	}
	for _, key := range [...]string{"name", "prometheus", "query"} {
		if !read.Sets(key) {
			v.KeyFault(key, "must be set")
		}
	}
	if (o.Above == nil) == (o.Below == nil) {
		v.Fault("must set either above or below")
	}
	return *o
}

var objectiveName = keys.Kind[string]{Values: "a DNS label", Read: func(v reader.Value) (string, bool) {
	name, ok := keys.Text.Read(v)
	if problems := keys.Name(name); ok && len(problems) > 0 {
		v.Fault("not a valid name: %s", strings.Join(problems, ", "))
		return "", false
	}
	return name, ok
}}

// address is the URL of a Prometheus. Even an invalid URL may contain a password, so the message does not
// show it.
var address = keys.Kind[string]{Values: "http or https URL, without a user or a password", Read: func(v reader.Value) (string, bool) {
	text, _ := v.Text()
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
		v.Fault("must be an http or https URL with a host, and without a query (?) and a fragment (#)")
	case u.User != nil:
		v.Fault("must not contain a user or a password: everyone who reads the configuration would see them")
	default:
		return text, true
	}
	return "", false
}}
