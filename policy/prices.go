package policy

import "github.com/workload-resizer/workload-resizer/ratios/nodetype"

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
