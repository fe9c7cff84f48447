package config

import (
	"maps"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
)

// readPrices reads what an hour of cpu and memory costs. The price of all node types must be set: a
// node type without a price would look as if it cost nothing.
func readPrices(into **policy.Prices) func(reader.Value) {
	return func(v reader.Value) {
		p := &policy.Prices{Types: map[string]policy.Price{}}
		fine := readPrice(v, &p.Default, reader.Known{
			"currency": text(&p.Currency),
			"nodeTypes": func(v reader.Value) {
				v.Each(func(nodeType string, v reader.Value) {
					checkNodeType(v, nodeType)
					var price policy.Price
					readPrice(v, &price, nil)
					p.Types[nodeType] = price
				})
			},
		})
		if fine && p.Currency == "" {
			v.KeyFault("currency", "must be set, such as USD")
		}
		*into = p
	}
}

// readPrice reads a price, both parts of which must be set, and other keys. It reports whether the
// value has no other faults.
func readPrice(v reader.Value, p *policy.Price, more reader.Known) bool {
	const must = "must be a number from 0 to 1000000, the price of an hour"
	var cpu, memory *float64
	keys := reader.Known{
		"cpuCoreHour":   optional(&cpu, must, within(0, 1e6)),
		"memoryGiBHour": optional(&memory, must, within(0, 1e6)),
	}
	maps.Copy(keys, more)
	if !v.Fields(keys) {
		return false
	}
	if cpu == nil || memory == nil {
		v.Fault("must set cpuCoreHour and memoryGiBHour")
		return true
	}
	p.CPU, p.Memory = *cpu, *memory
	return true
}
