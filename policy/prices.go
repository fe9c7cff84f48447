package policy

import (
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// Prices are what an hour of cpu and memory costs.
type Prices struct {
	// Currency is the unit of the prices, such as USD.
	Currency string
	// Default applies to node types that Types does not have.
	Default Price
	// Types has the prices of node types.
	Types map[string]Price
}

// Price is what an hour of one core, and of one GiB of memory, costs.
type Price struct{ CPU, Memory float64 }

// Keys implements keys.Section.
func (p *Prices) Keys() []keys.Key {
	return append([]keys.Key{
		keys.Of("currency", &p.Currency, keys.Text, "", "the unit of the prices, such as USD; required"),
		keys.Of("nodeTypes", &p.Types, pricesOfTypes, nil, "prices of single node types; the others have the prices below"),
	}, p.Default.Keys()...)
}

// Keys implements keys.Section.
func (p *Price) Keys() []keys.Key {
	price := keys.Number("0 to 1000000", "must be a number from 0 to 1000000, the price of an hour", keys.Within(0, 1e6))
	return []keys.Key{
		keys.Of("cpuCoreHour", &p.CPU, price, 0, "the price of a core for an hour; required").Or(""),
		keys.Of("memoryGiBHour", &p.Memory, price, 0, "the price of a GiB of memory for an hour; required").Or(""),
	}
}

// Of returns the price of a node type. The name of a CPU model has that of its node type unless it has
// one itself.
func (p *Prices) Of(nodeType string) Price {
	family, _ := nodetype.SplitModel(nodeType)
	for _, name := range [...]string{nodeType, family} {
		if price, ok := p.Types[name]; ok {
			return price
		}
	}
	return p.Default
}

// prices must have a price of all node types: one without a price would look as if it cost nothing.
var prices = keys.Kind[*Prices]{Values: "the keys below", Read: func(v reader.Value) (*Prices, bool) {
	var p keys.Partial[Prices]
	if readPrice(v, &p) && !p.Sets("currency") {
		v.KeyFault("currency", "must be set, such as USD")
	}
	return &p.Values, true
}}

var pricesOfTypes = keys.Kind[map[string]Price]{Values: "node type, then `cpuCoreHour` and `memoryGiBHour`", Read: func(v reader.Value) (map[string]Price, bool) {
	all := map[string]Price{}
	v.Each(func(nodeType string, v reader.Value) {
		CheckNodeType(v, nodeType)
		var p keys.Partial[Price]
		readPrice(v, &p)
		all[nodeType] = p.Values
	})
	return all, true
}}

// readPrice reads a section that must set both parts of a price. It reports whether there is no
// other fault.
func readPrice[T any](v reader.Value, p *keys.Partial[T]) bool {
	if !p.Read(v) {
		return false
	}
	if !p.Sets("cpuCoreHour") || !p.Sets("memoryGiBHour") {
		v.Fault("must set cpuCoreHour and memoryGiBHour")
	}
	return true
}

// CheckNodeType adds a fault if a key is not the name of a node type.
func CheckNodeType(v reader.Value, name string) {
	if name == "" {
		v.Fault("the name of a node type must not be empty")
	} else if problems := nodetype.NameProblems(name); len(problems) > 0 {
		v.Fault("not a valid node type: %s", strings.Join(problems, ", "))
	}
}
