package stored

import (
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
	if b[0] != version {
		return nil, fmt.Errorf("it has version %d, but this release reads only version %d", b[0], version)
	}
	in := &input{rest: b[1:]}
	e := evidence.New()
	e.Types, e.Models = in.names(), in.names()
	for range e.Types {
		s := evidence.Slowdown{Squares: in.float(), Products: in.float(), Count: in.float()}
		if s.Squares < 0 || s.Count < 0 {
			in.fail(errors.New("a sum of squares is negative"))
		}
		e.Slowdown = append(e.Slowdown, s)
	}
	for range in.number(mostItems) {
		key, w := in.workload(e)
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

func (in *input) workload(e *evidence.Evidence) (evidence.Key, *evidence.Workload) {
	key := evidence.Key(in.key())
	w := &evidence.Workload{Last: int64(in.number(mostHours)), Cores: in.short(), Throttled: in.short()}
	w.Load = evidence.Load{Middle: in.rounded() * 4, Swing: in.byte() / swingSteps}
	flags := in.number((evidence.MostCells + 1) << 2)
	w.Pulls, w.Known = flags&1 != 0, flags&2 != 0
	for range flags >> 2 {
		w.Cells = append(w.Cells, in.cell(e))
	}
	return key, w
}

func (in *input) cell(e *evidence.Evidence) evidence.Cell {
	c := evidence.Cell{A: in.index(len(e.Types)), B: in.index(len(e.Types))}
	for _, x := range [2]*evidence.Compared{&c.Like, &c.Unlike} {
		if x.N = in.short(); x.N > 0 {
			x.Mean, x.Squares = in.rounded(), in.short()
			x.Busy = [2]float64{in.byte() / busySteps, in.byte() / busySteps}
		}
	}
	if c.Unlike.N > 0 {
		c.Sizes = float64(int8(in.take(1)[0])) / sizeSteps
	}
	for side := range 2 {
		c.Spread[side], c.Replicas[side] = in.spread(), math.Exp2(in.byte()/replicaSteps)
	}
	if c.Slope.Weight = in.short(); c.Slope.Weight > 0 {
		c.Slope.Mean, c.Slope.Squares, c.Slope.Days = in.rounded(), in.short(), in.byte()/daySteps
	}
	if in.err == nil && c.A >= c.B {
		in.fail(errors.New("a pair of types is not in order"))
	}
	return c
}

func (in *input) node(e *evidence.Evidence) (evidence.Key, *evidence.Node) {
	key := evidence.Key(in.key())
	n := &evidence.Node{Last: int64(in.number(mostHours)), Type: in.index(len(e.Types))}
	n.Model = in.index(len(e.Models)+1) - 1
	for h := range n.Halves {
		weight := in.short()
		n.Halves[h] = evidence.Deviation{Weight: weight, Sum: weight * in.rounded()}
	}
	n.Busy = n.Weight() * in.rounded()
	return key, n
}
