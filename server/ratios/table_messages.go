package ratios

import (
	"sync/atomic"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// tableMessages converts the global ratios of tables to messages. Tables never change, and
// most calls are about the same table, so its messages are created once for all calls and
// watches. They must not be modified.
type tableMessages struct {
	// overridable means that there can be overrides.
	overridable bool
	last        atomic.Pointer[ratioMessages]
}

// ratioMessages has the ratios of one table by node type.
type ratioMessages struct {
	table  *ratios.Table
	ratios map[string]*workloadresizerv1.Ratio
}

// of returns the ratios of a table by node type.
func (m *tableMessages) of(table *ratios.Table) map[string]*workloadresizerv1.Ratio {
	if last := m.last.Load(); last != nil && last.table == table {
		return last.ratios
	}
	made := &ratioMessages{table, map[string]*workloadresizerv1.Ratio{}}
	for _, nodeType := range table.NodeTypes() {
		made.ratios[nodeType] = globalRatio(table, nodeType, m.overridable)
	}
	m.last.Store(made)
	return made.ratios
}
