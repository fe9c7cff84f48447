package stored

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// version is the version of the form. Two others are read, too. The one before has no cores by type, but those of each workload. The oldest one has
// no namespaces either, and times that do not refer to the last hour.
const version, versionBefore, oldestVersion = 4, 3, 2

// Write returns the stored form of evidence. The same evidence always has the same form.
func Write(e *evidence.Evidence) []byte {
	last := lastOf(e)
	b := binary.AppendUvarint([]byte{version}, uint64(last))
	for _, names := range [][]string{e.Types, e.Models, e.Zones} {
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
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(sum(x)))
		}
	}
	b, numbers := appendNamespaces(b, e)
	b = binary.AppendUvarint(b, uint64(len(e.Places)))
	for i := range e.Places {
		b = appendPlace(b, &e.Places[i], last)
	}
	b = binary.AppendUvarint(b, uint64(len(e.Workloads)))
	for _, key := range sorted(e.Workloads) {
		w := e.Workloads[key]
		b = appendWorkload(b, key, w, numbers[w.Namespace], last)
	}
	b = binary.AppendUvarint(b, uint64(len(e.Nodes)))
	for _, key := range sorted(e.Nodes) {
		b = appendNode(b, key, e.Nodes[key], last)
	}
	return b
}

// sum returns the nearest sum that can be read.
func sum(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(min(x, mostSum), -mostSum)
}

func sorted[V any](m map[evidence.Key]V) []evidence.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b evidence.Key) int { return cmp.Compare(a, b) })
}

// lastOf returns the last hour of all.
func lastOf(e *evidence.Evidence) int64 {
	last := int64(0)
	for _, w := range e.Workloads {
		last = max(last, w.Last)
	}
	for _, n := range e.Nodes {
		last = max(last, n.Last)
	}
	for i := range e.Places {
		last = max(last, e.Places[i].Last)
	}
	return last
}

// appendBefore appends an hour, which is not after the last.
func appendBefore(b []byte, hour, last int64) []byte {
	return binary.AppendUvarint(b, uint64(last-hour))
}

func appendWorkload(b []byte, key evidence.Key, w *evidence.Workload, namespace int, last int64) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(key))
	b = binary.AppendUvarint(appendBefore(b, w.Last, last), uint64(namespace))
	b = appendShort(appendShort(b, w.Each), w.Throttled)
	// The load is a logarithm of cores: a quarter of it fits.
	b = append(appendRounded(b, w.Load.Middle/4), toByte(swingSteps*w.Load.Swing))
	flags := uint64(len(w.Cells))<<6 | uint64(len(w.Costs))<<3 | uint64(w.Half)<<2
	if w.Pulls {
		flags |= 1
	}
	if w.Known {
		flags |= 2
	}
	b = binary.AppendUvarint(b, flags)
	for i := range w.Cells {
		b = appendCell(b, &w.Cells[i], w.Last)
	}
	for i := range w.Costs {
		b = appendCost(b, &w.Costs[i], w.Last)
	}
	return b
}

// The parts of a cell that are stored.
const (
	hasLike = 1 << iota
	hasUnlike
	hasChange
	hasApart
	hasSlope
	allParts = 1<<iota - 1
)

func partsOf(c *evidence.Cell) byte {
	parts := byte(0)
	for _, x := range []struct {
		bit    byte
		weight float64
	}{{hasLike, c.Like.N}, {hasUnlike, c.Unlike.N}, {hasChange, c.Change.Hours}, {hasApart, c.Apart.N}, {hasSlope, c.Slope.Weight}} {
		if x.weight > 0 {
			parts |= x.bit
		}
	}
	return parts
}

func appendCell(b []byte, of *evidence.Cell, last int64) []byte {
	closed := *of
	c := &closed
	c.Slope = of.Slope.Closed()
	parts := partsOf(c)
	b = append(b, byte(c.A), byte(c.B), agoByte(c.Seen, last), parts)
	for i, x := range [2]*evidence.Compared{&c.Like, &c.Unlike} {
		if parts&(hasLike<<i) != 0 {
			b = appendRounded(append(b, weightByte(x.N)), x.Mean)
			b = append(b, busyByte(x.Busy[0]), busyByte(x.Busy[1]))
		}
	}
	if parts&(hasLike|hasUnlike) != 0 {
		// The variance over hours hardly depends on sizes.
		b = append(b, spreadByte((c.Like.Squares+c.Unlike.Squares)/c.Hours()))
	}
	if parts&hasUnlike != 0 {
		b = append(b, sizeByte(c.Sizes))
	}
	if x := &c.Change; parts&hasChange != 0 {
		b = append(appendRounded(append(b, toByte(x.Hours)), x.Mean), sizeByte(x.Sizes))
	}
	if x := &c.Apart; parts&hasApart != 0 {
		b = append(appendRounded(append(b, weightByte(x.N)), x.Mean), spreadByte(x.Squares/x.N), busyByte(x.Busy[0]), busyByte(x.Busy[1]))
	}
	if s := &c.Slope; parts&hasSlope != 0 {
		b = append(appendRounded(append(b, weightByte(s.Weight)), s.Mean), spreadByte(s.Squares/max(s.Days, 1/daySteps)), toByte(daySteps*s.Days))
	}
	for side := range 2 {
		b = append(b, spreadByte(c.Spread[side]), replicasByte(c.Replicas[side]))
	}
	return append(b, weightByte(c.Uses.N), coresByte(c.Uses.Cores[0]), coresByte(c.Uses.Cores[1]))
}

func replicasByte(x float64) byte { return toByte(replicaSteps * math.Log2(max(x, 1))) }

func appendCost(b []byte, c *evidence.Cost, last int64) []byte {
	b = append(b, byte(c.Type), byte(min(max(last/24-c.Day, 0), math.MaxUint8)))
	b = append(appendFloat(b, c.Mean), busyByte(c.Busy), replicasByte(c.Replicas), spreadByte(c.Spread))
	return binary.LittleEndian.AppendUint32(b, c.Revision)
}

func appendPlace(b []byte, p *evidence.Place, last int64) []byte {
	b = append(b, byte(p.A), byte(p.B), byte(p.Zone))
	b = appendBefore(b, p.Last, last)
	for _, h := range p.Halves {
		b = appendRounded(appendShort(b, h.Weight), h.Mean())
	}
	return b
}

func appendNode(b []byte, key evidence.Key, n *evidence.Node, last int64) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(key))
	b = appendBefore(b, n.Last, last)
	b = append(b, byte(n.Type), byte(n.Model+1), byte(n.Zone+1)) // 0 means unknown.
	for _, h := range n.Halves {
		b = appendRounded(appendShort(b, h.Weight), h.Mean())
	}
	b = appendRounded(b, evidence.Deviation{Weight: n.Weight(), Sum: n.Busy}.Mean())
	return appendShort(b, n.Compared)
}
