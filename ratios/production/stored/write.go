package stored

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// version is the version of the form.
const version = 1

// Write returns the stored form of evidence. The same evidence always has the same form.
func Write(e *evidence.Evidence) []byte {
	b := []byte{version}
	for _, names := range [][]string{e.Types, e.Models} {
		b = binary.AppendUvarint(b, uint64(len(names)))
		for _, name := range names {
			b = binary.AppendUvarint(b, uint64(len(name)))
			b = append(b, name...)
		}
	}
	for i := range e.Types {
		var s evidence.Slowdown
		if i < len(e.Slowdown) {
			s = e.Slowdown[i]
		}
		for _, x := range []float64{s.Squares, s.Products, s.Count} {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(e.Workloads)))
	for _, key := range sorted(e.Workloads) {
		b = appendWorkload(b, key, e.Workloads[key])
	}
	b = binary.AppendUvarint(b, uint64(len(e.Nodes)))
	for _, key := range sorted(e.Nodes) {
		b = appendNode(b, key, e.Nodes[key])
	}
	return b
}

func sorted[V any](m map[evidence.Key]V) []evidence.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b evidence.Key) int { return cmp.Compare(a, b) })
}

func appendWorkload(b []byte, key evidence.Key, w *evidence.Workload) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(key))
	b = binary.AppendUvarint(b, uint64(w.Last))
	b = appendShort(appendShort(b, w.Cores), w.Throttled)
	// The load is a logarithm of cores: a quarter of it fits.
	b = append(appendRounded(b, w.Load.Middle/4), toByte(swingSteps*w.Load.Swing))
	flags := uint64(len(w.Cells)) << 2
	if w.Pulls {
		flags |= 1
	}
	if w.Known {
		flags |= 2
	}
	b = binary.AppendUvarint(b, flags)
	for i := range w.Cells {
		b = appendCell(b, &w.Cells[i])
	}
	return b
}

func appendCell(b []byte, c *evidence.Cell) []byte {
	b = append(b, byte(c.A), byte(c.B))
	for _, x := range [2]*evidence.Compared{&c.Like, &c.Unlike} {
		b = appendShort(b, x.N)
		if x.N > 0 {
			b = appendShort(appendRounded(b, x.Mean), x.Squares)
			b = append(b, toByte(busySteps*x.Busy[0]), toByte(busySteps*x.Busy[1]))
		}
	}
	if c.Unlike.N > 0 {
		b = append(b, byte(int8(math.Round(min(max(c.Sizes*sizeSteps, math.MinInt8), math.MaxInt8)))))
	}
	for side := range 2 {
		b = append(b, spreadByte(c.Spread[side]), toByte(replicaSteps*math.Log2(max(c.Replicas[side], 1))))
	}
	s := &c.Slope
	b = appendShort(b, s.Weight)
	if s.Weight > 0 {
		b = append(appendShort(appendRounded(b, s.Mean), s.Squares), toByte(daySteps*s.Days))
	}
	return b
}

func appendNode(b []byte, key evidence.Key, n *evidence.Node) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(key))
	b = binary.AppendUvarint(b, uint64(n.Last))
	b = append(b, byte(n.Type), byte(n.Model+1)) // 0 means no model.
	for _, h := range n.Halves {
		b = appendRounded(appendShort(b, h.Weight), h.Mean())
	}
	return appendRounded(b, evidence.Deviation{Weight: n.Weight(), Sum: n.Busy}.Mean())
}
