package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Parse reads a document such as
//
//	baselineNodeType: n2d
//	nodeTypes:
//	  n2d: { cpuPerf: 1.0, memPerf: 1.0 }
//	  n4:  { cpuPerf: 1.25, memPerf: 1.0 }
//	bounds:
//	  cpu:    { min: "50m", max: "16" }
//	  memory: { min: "64Mi", max: "32Gi" }
//
// into a layer whose ratios have the given provenance. An end of the bounds that
// is not set is open. The error lists all faults.
func Parse(text []byte, from ratios.Provenance) (*ratios.Layer, error) {
	var document, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the configuration is empty")
	case err != nil:
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("the configuration must be one YAML document; there is more after ---")
	}
	var f faults
	layer := f.layer(document.Content[0], from)
	if len(f) > 0 {
		return nil, f
	}
	return layer, nil
}

func (f *faults) layer(n *yaml.Node, from ratios.Provenance) *ratios.Layer {
	layer := &ratios.Layer{Ratios: map[string]ratios.Ratio{}, Bounds: &ratios.Bounds{}}
	f.fields("", n, map[string]func(string, *yaml.Node){
		"baselineNodeType": f.text(&layer.Baseline),
		"nodeTypes": func(path string, n *yaml.Node) {
			f.each(path, n, func(path, nodeType string, n *yaml.Node) {
				if nodeType == "" {
					f.add(path, "line %d: a node type needs a name", n.Line)
				}
				layer.Ratios[nodeType] = f.ratio(path, n, from)
			})
		},
		"bounds": func(path string, n *yaml.Node) {
			f.fields(path, n, map[string]func(string, *yaml.Node){
				"cpu":    f.bounds(&layer.Bounds.CPU, mostCPU, func(q resource.Quantity) int64 { return q.MilliValue() }),
				"memory": f.bounds(&layer.Bounds.Memory, mostMemory, func(q resource.Quantity) int64 { return q.Value() }),
			})
		},
	})
	if layer.Baseline == "" {
		f.add("baselineNodeType", "must be set")
	} else if _, ok := layer.Ratios[layer.Baseline]; !ok {
		f.add("baselineNodeType", "%q is not one of the nodeTypes", layer.Baseline)
	}
	return layer
}

func (f *faults) ratio(path string, n *yaml.Node, from ratios.Provenance) ratios.Ratio {
	r := ratios.Ratio{Provenance: from}
	before := len(*f)
	f.fields(path, n, map[string]func(string, *yaml.Node){
		"cpuPerf": f.perf(&r.CPUPerf),
		"memPerf": f.perf(&r.MemoryPerf),
	})
	if len(*f) > before {
		return r
	}
	if r.CPUPerf == 0 {
		f.add(join(path, "cpuPerf"), "must be set")
	}
	if r.MemoryPerf == 0 {
		f.add(join(path, "memPerf"), "must be set")
	}
	return r
}

// Larger bounds are a slip of the pen, and would not fit in 64 bits.
var (
	mostCPU    = resource.MustParse("1G")
	mostMemory = resource.MustParse("1Ei")
)

func (f *faults) bounds(into *ratios.Range, most resource.Quantity, amount func(resource.Quantity) int64) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		var low, high resource.Quantity
		f.fields(path, n, map[string]func(string, *yaml.Node){
			"min": f.quantity(&low, 0, most),
			"max": f.quantity(&high, 1, most),
		})
		*into = ratios.Range{Min: amount(low), Max: amount(high)}
		if into.Max > 0 && into.Min > into.Max {
			f.add(path, "min %s > max %s", &low, &high)
		}
	}
}
