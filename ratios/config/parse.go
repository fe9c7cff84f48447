package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// FileName is the name that the document goes by, as a file and as the key of a
// ConfigMap.
const FileName = "config.yaml"

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
// is not set is open. The error is of type Faults.
func Parse(text []byte, from ratios.Provenance) (*ratios.Layer, error) {
	n, err := single(text)
	if err != nil {
		return nil, Faults{err.Error()}
	}
	r := &reader{from: from}
	d := r.document(n)
	if r.entries < mostEntries {
		d.check(&r.faults)
	}
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	return d.layer(), nil
}

// Validate is Parse for those who only ask whether a document is right, and how
// much is in it: the node types for all pods, and the rules.
func Validate(text []byte) (nodeTypes, rules int, err error) {
	layer, err := Parse(text, ratios.Provenance{})
	if err != nil {
		return 0, 0, err
	}
	return len(layer.Ratios), len(layer.Rules), nil
}

// single returns the content of the one YAML document in the text that is not
// empty: a --- that nothing follows is no document.
func single(text []byte) (*yaml.Node, error) {
	var content *yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF) && content == nil:
			return nil, errors.New("the configuration is empty")
		case errors.Is(err, io.EOF):
			return content, nil
		case err != nil:
			return nil, fmt.Errorf("read YAML: %w", err)
		}
		n := document.Content[0]
		if isNull(n) && n.Value == "" {
			continue
		}
		if content != nil {
			return nil, errors.New("the configuration must be one YAML document; there is more after ---")
		}
		content = n
	}
}
