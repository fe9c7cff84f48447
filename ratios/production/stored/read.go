package stored

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

const (
	// mostNames, mostLength, mostItems and mostHours are far beyond what is written.
	mostNames, mostLength, mostItems, mostHours = 251, 1024, 100_001, 1 << 32
)

// Read returns the evidence of a stored form.
func Read(b []byte) (*evidence.Evidence, error) {
	e, err := read(b)
	if err != nil {
		return nil, fmt.Errorf("read evidence of ratios: %w; delete it, and it is collected again", err)
	}
	return e, nil
}

func read(b []byte) (*evidence.Evidence, error) {
	if len(b) == 0 {
		return nil, errEnd
	}
	if b[0] < oldestVersion || b[0] > version {
		return nil, fmt.Errorf("it has version %d, but this release reads only versions %d to %d", b[0], oldestVersion, version)
	}
	in := &input{rest: b[1:], version: b[0]}
	if in.version != oldestVersion {
		in.last = int64(in.number(mostHours))
	}
	e := evidence.New()
	e.Types, e.Models, e.Zones = in.names(), in.names(), in.names()
	for range e.Types {
		s := evidence.Slowdown{Squares: in.float(), Products: in.float(), Count: in.float()}
		if s.Squares < 0 || s.Count < 0 {
			in.fail(errors.New("a sum of squares is negative"))
		}
		e.Slowdown = append(e.Slowdown, s)
	}
	namespaces := in.namespaces()
	for range in.number(evidence.MostPlaces + 1) {
		e.Places = append(e.Places, in.place(e))
	}
	for range in.number(mostItems) {
		key, w := in.workload(e, namespaces)
		if in.err != nil {
			return nil, in.err
		}
		if e.Workloads[key] != nil {
			return nil, errors.New("it has a workload twice")
		}
		e.Workloads[key] = w
	}
	for range in.number(mostItems) {
		key, n := in.node(e)
		if in.err != nil {
			return nil, in.err
		}
		if e.Nodes[key] != nil {
			return nil, errors.New("it has a node twice")
		}
		e.Nodes[key] = n
	}
	if in.err == nil && len(in.rest) > 0 {
		in.fail(fmt.Errorf("%d bytes are left", len(in.rest)))
	}
	return e, in.err
}

// hour returns an hour.
func (in *input) hour() int64 {
	if in.version == oldestVersion {
		return int64(in.number(mostHours))
	}
	return in.last - int64(in.number(uint64(in.last)+1))
}

func (in *input) names() []string {
	var names []string
	known := map[string]bool{}
	for range in.number(mostNames) {
		name := string(in.take(in.number(mostLength)))
		if in.err != nil {
			return nil
		}
		if known[name] || !utf8.ValidString(name) {
			in.fail(fmt.Errorf("%q is not a name, or is twice", name))
			return nil
		}
		known[name] = true
		names = append(names, name)
	}
	return names
}

// index returns a number that stands for a name.
func (in *input) index(names int) int {
	i := int(in.take(1)[0])
	if in.err == nil && i >= names {
		in.fail(errors.New("a number stands for no name"))
	}
	return i
}

func (in *input) workload(e *evidence.Evidence, namespaces []evidence.Key) (evidence.Key, *evidence.Workload) {
	key := evidence.Key(in.key())
	w := &evidence.Workload{Last: in.hour(), Namespace: in.namespace(namespaces), Each: in.short(), Throttled: in.short()}
	w.Load = evidence.Load{Middle: in.rounded() * 4, Swing: in.byte() / swingSteps}
	bits := 2
	if in.version > versionBefore {
		bits = 3
	}
	flags := in.number((evidence.MostCells + 1) << (bits + 3))
	w.Pulls, w.Known, w.Half = flags&1 != 0, flags&2 != 0, int(key%2)
	if in.version > versionBefore {
		w.Half = flags >> 2 & 1
	}
	for range flags >> (bits + 3) {
		w.Cells = append(w.Cells, in.cell(e, w.Last))
	}
	if in.version <= versionBefore {
		divide(w, w.Each)
	}
	for range flags >> bits & 7 {
		w.Costs = append(w.Costs, in.cost(e, w.Last))
	}
	if in.err == nil && len(w.Costs) > evidence.MostCosts {
		in.fail(errors.New("a workload has too many costs"))
	}
	return key, w
}

func (in *input) cell(e *evidence.Evidence, last int64) evidence.Cell {
	var c evidence.Cell
	c.A, c.B = in.pair(e)
	c.Seen = in.ago(last)
	parts := in.take(1)[0]
	if parts > allParts {
		in.fail(errors.New("a pair of types has unknown parts"))
	}
	for i, x := range [2]*evidence.Compared{&c.Like, &c.Unlike} {
		if parts&(hasLike<<i) != 0 {
			x.N, x.Mean = in.cellWeight(), in.rounded()
			x.Busy = [2]float64{in.busy(), in.busy()}
		}
	}
	if parts&(hasLike|hasUnlike) != 0 {
		variance := in.spread()
		c.Like.Squares, c.Unlike.Squares = variance*c.Like.N, variance*c.Unlike.N
	}
	if parts&hasUnlike != 0 {
		c.Sizes = in.size()
	}
	if parts&hasChange != 0 {
		c.Change = evidence.Change{Hours: in.byte(), Mean: in.rounded(), Sizes: in.size()}
		if c.Change.Hours == 0 {
			in.fail(errNoWeight)
		}
	}
	if parts&hasApart != 0 {
		c.Apart.N, c.Apart.Mean = in.cellWeight(), in.rounded()
		c.Apart.Squares = in.spread() * c.Apart.N
		c.Apart.Busy = [2]float64{in.busy(), in.busy()}
	}
	if s := &c.Slope; parts&hasSlope != 0 {
		s.Weight, s.Mean = in.cellWeight(), in.rounded()
		variance := in.spread()
		s.Days = in.byte() / daySteps
		s.Squares = variance * max(s.Days, 1/daySteps)
	}
	for side := range 2 {
		c.Spread[side], c.Replicas[side] = in.spread(), in.replicas()
	}
	if in.version > versionBefore {
		c.Uses = evidence.Uses{N: in.doublings(weightSteps, leastWeight), Cores: [2]float64{in.cores(), in.cores()}}
	}
	return c
}

// pair returns two types in order.
func (in *input) pair(e *evidence.Evidence) (a, b int) {
	a, b = in.index(len(e.Types)), in.index(len(e.Types))
	if in.err == nil && a >= b {
		in.fail(errors.New("a pair of types is not in order"))
	}
	return a, b
}

// cellWeight returns the weight of a part of a cell.
func (in *input) cellWeight() float64 {
	x := 0.0
	if in.version <= versionBefore {
		x = in.short()
	} else {
		x = in.doublings(weightSteps, leastWeight)
	}
	if in.err == nil && x == 0 {
		in.fail(errNoWeight)
	}
	return x
}

func (in *input) replicas() float64 { return math.Exp2(in.byte() / replicaSteps) }

func (in *input) cost(e *evidence.Evidence, last int64) evidence.Cost {
	c := evidence.Cost{Type: in.index(len(e.Types))}
	c.Day = max(last/24-int64(in.take(1)[0]), 0)
	c.Mean, c.Busy, c.Replicas, c.Spread = in.single(), in.busy(), in.replicas(), in.spread()
	c.Revision = binary.LittleEndian.Uint32(in.take(4))
	return c
}

func (in *input) place(e *evidence.Evidence) evidence.Place {
	var p evidence.Place
	p.A, p.B = in.pair(e)
	p.Zone = in.index(len(e.Zones))
	p.Last = in.hour()
	if in.version == oldestVersion { // It did not tell halves apart.
		both := in.deviation()
		half := evidence.Deviation{Weight: both.Weight / 2, Sum: both.Sum / 2}
		p.Halves = [2]evidence.Deviation{half, half}
		return p
	}
	for h := range p.Halves {
		p.Halves[h] = in.deviation()
	}
	return p
}

func (in *input) deviation() evidence.Deviation {
	weight := in.short()
	return evidence.Deviation{Weight: weight, Sum: weight * in.rounded()}
}

func (in *input) node(e *evidence.Evidence) (evidence.Key, *evidence.Node) {
	key := evidence.Key(in.key())
	n := &evidence.Node{Last: in.hour(), Type: in.index(len(e.Types))}
	n.Model, n.Zone = in.index(len(e.Models)+1)-1, in.index(len(e.Zones)+1)-1
	for h := range n.Halves {
		n.Halves[h] = in.deviation()
	}
	n.Busy = n.Weight() * in.rounded()
	n.Compared = in.short()
	return key, n
}
