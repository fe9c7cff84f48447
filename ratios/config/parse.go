package config

import (
	"cmp"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// FileName is the name of the document as a file, and its key in a ConfigMap.
const FileName = "config.yaml"

// Faults is everything that is wrong with a document, at least one.
type Faults = reader.Faults

// Parse reads a document such as
//
//	baselineNodeType: n2d
//	nodeTypes:
//	  n2d: { cpuPerf: 1.0, memPerf: 1.0 }
//	  n4:  { cpuPerf: 1.25, memPerf: 1.0 }
//	bounds:
//	  cpu:    { min: "50m", max: "16" }
//	  memory: { min: "64Mi", max: "32Gi" }
//	podLabels:
//	  env:
//	    production:
//	      bounds: { cpu: { min: "100m" } }
//
// into a layer whose ratios have the given provenance. An end of the bounds that
// is not set is unbounded. The error is of type Faults.
func Parse(text []byte, from ratios.Provenance) (*ratios.Layer, error) {
	var r reader.Reader
	content, ok := r.Read(text)
	switch {
	case !ok:
		return nil, r.Faults
	case content.IsNull():
		return nil, Faults{"the configuration is empty"}
	case content.Has("apiVersion", "kind"):
		return nil, Faults{"this is a manifest, not a configuration: of a ConfigMap, use the content of its key " + FileName +
			", which this command prints: kubectl create --dry-run=client -o jsonpath='{.data.config\\.yaml}' -f FILE"}
	}
	d := readDocument(content)
	if !r.Spent() {
		d.check(&r)
	}
	if len(r.Faults) > 0 {
		return nil, r.Faults
	}
	return d.layer(from), nil
}

// Check returns what is wrong with a document, as Parse does.
func Check(text []byte) error {
	_, err := Parse(text, ratios.Provenance{})
	return err
}

// Validate checks a document like Parse. Node types whose ratios are implausible are faults,
// too: the server accepts the document, but does not use these types. Validate returns the
// number of global node types and of rules.
func Validate(text []byte) (nodeTypes, rules int, err error) {
	layer, err := Parse(text, ratios.Provenance{Source: FileName})
	if err != nil {
		return 0, 0, err
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		return 0, 0, Faults{err.Error()} // Parse has checked everything that Merge does.
	}
	var faults Faults
	for _, i := range table.UnusedTypes() {
		faults.Add(cmp.Or(i.Rule, reader.Join("nodeTypes", i.NodeType)), "%s", i.Why)
	}
	if len(faults) > 0 {
		return 0, 0, faults
	}
	return len(layer.Ratios), len(layer.Rules), nil
}
