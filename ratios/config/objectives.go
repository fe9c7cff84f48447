package config

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
)

// mostObjectives is the maximum number of objectives: each is a query every few seconds.
const mostObjectives = 10

// readObjectives reads a list of objectives. An empty list is set, too.
func readObjectives(into *[]policy.Objective) func(reader.Value) {
	return func(v reader.Value) {
		if v.IsNull() {
			return
		}
		all := []policy.Objective{}
		v.Items(func(v reader.Value) { all = append(all, readObjective(v, all)) })
		if len(all) > mostObjectives {
			v.Fault("has %d objectives, but must have at most %d", len(all), mostObjectives)
		}
		*into = all
	}
}

// readObjective reads an objective whose name must differ from those of others.
func readObjective(v reader.Value, others []policy.Objective) (o policy.Objective) {
	const must = "must be a finite number"
	finite := func(f float64) bool { return !math.IsInf(f, 0) }
	fine := v.Fields(reader.Known{
		"name": func(v reader.Value) {
			if text(&o.Name)(v); o.Name == "" {
				return
			}
			if problems := content.IsDNS1123Label(o.Name); len(problems) > 0 {
				v.Fault("not a valid name: %s", strings.Join(problems, ", "))
			} else if slices.ContainsFunc(others, func(other policy.Objective) bool { return other.Name == o.Name }) {
				v.Fault("%q is already the name of an objective", o.Name)
			}
		},
		"prometheus": address(&o.Prometheus),
		"query":      text(&o.Query),
		"above":      optional(&o.Above, must, finite),
		"below":      optional(&o.Below, must, finite),
	})
	if !fine {
		return o
	}
	for _, key := range []struct{ name, value string }{{"name", o.Name}, {"prometheus", o.Prometheus}, {"query", o.Query}} {
		if key.value == "" {
			v.KeyFault(key.name, "must be set")
		}
	}
	if (o.Above == nil) == (o.Below == nil) {
		v.Fault("must set either above or below")
	}
	return o
}

// address reads the URL of a Prometheus.
func address(into *string) func(reader.Value) {
	return func(v reader.Value) {
		// Even an invalid URL may contain a password, so the message does not show it.
		text, _ := v.Text()
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
			v.Fault("must be an http or https URL with a host, and without a query (?) and a fragment (#)")
		case u.User != nil:
			v.Fault("must not contain a user or a password: everyone who reads the configuration would see them")
		default:
			*into = text
		}
	}
}
