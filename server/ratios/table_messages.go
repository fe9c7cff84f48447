package ratios

import (
	"encoding/binary"
	"hash/fnv"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

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

// ratioMessages has the ratios of one table.
type ratioMessages struct {
	table *ratios.Table
	// ratios are by node type.
	ratios map[string]*workloadresizerv1.Ratio
	// digest identifies all of them, on every replica.
	digest uint64
}

// of returns the ratios of a table.
func (m *tableMessages) of(table *ratios.Table) *ratioMessages {
	if last := m.last.Load(); last != nil && last.table == table {
		return last
	}
	made := &ratioMessages{table: table, ratios: map[string]*workloadresizerv1.Ratio{}}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(table.Revision)) // Never fails.
	for _, nodeType := range table.NodeTypes() {
		r := m.ratio(table, nodeType)
		made.ratios[nodeType] = r
		b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(r) // It has only valid text.
		_, _ = sum.Write(binary.AppendUvarint(nil, uint64(len(b))))
		_, _ = sum.Write(b)
	}
	made.digest = sum.Sum64()
	m.last.Store(made)
	return made
}

// ratio returns the global ratio of a node type, nil if there is none.
func (m *tableMessages) ratio(table *ratios.Table, nodeType string) *workloadresizerv1.Ratio {
	entry, ok := table.Lookup(nodeType)
	if !ok {
		return nil
	}
	r := Message(table.Baseline, entry)
	r.Etag = m.etag(table, nodeType)
	return r
}

// etag returns the etag of the global ratio of a node type, or of its absence; empty if there can be
// no overrides.
func (m *tableMessages) etag(table *ratios.Table, nodeType string) string {
	if !m.overridable {
		return ""
	}
	return etag(table, nodeType)
}
