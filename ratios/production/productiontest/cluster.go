package productiontest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// Settings describe clusters. Standard deviations are of logarithms.
type Settings struct {
	Workloads, Types, NodesPerType, Days int
	// Namespaces is how many namespaces the workloads are in, some of which have many more than others; 0 if they are not known. Flood is how many
	// small workloads one more namespace has, which claim that all types are equally fast.
	Namespaces, Flood int
	// Fastest is the ratio of the fastest type; the baseline is the slowest.
	Fastest float64
	// Spread is how the ratios of workloads differ. Heavy means that few of them, and of the nodes, differ by much more
	// than the others do (Student's t with three degrees of freedom).
	Spread float64
	Heavy  bool
	// Pareto is the exponent of the distribution of the workloads' cores: the smaller, the more unequal they are.
	Pareto float64
	// Replicas is how replicas differ, and Lasting for how many hours.
	Replicas, Lasting float64
	// Nodes is how the nodes of a type differ, and Models by how much the newer CPU of half of its nodes is
	// faster.
	Nodes, Models float64
	// Minute is the noise of a minute, which has Follows of it in common with the minute before.
	Minute, Follows float64
	// Slowdown is by how much work takes longer where others keep the whole node busy, and Uneven by how much some
	// types are busier than others.
	Slowdown, Uneven float64
	// Packed means that nodes are filled by requests: the larger the ratio that is applied to a type, the more
	// replicas are on its nodes, and the busier they are.
	Packed bool
	// Swing is the largest amplitude of the daily wave.
	Swing float64
	// Biased is the fraction of the workloads that are biased, and Biases in which ways, in turn.
	Biased float64
	Biases []Bias
	// Known is the fraction of the workloads whose work per replica is known, and Moving the fraction of these that
	// run on one type at a time, and move to another one after a while.
	Known, Moving float64
	// Drift is how what a unit of work costs changes over days.
	Drift float64
}

// Defaults describes a cluster without biases.
func Defaults() Settings {
	return Settings{
		Workloads: 200, Types: 8, NodesPerType: 30, Days: 14, Namespaces: 12, Fastest: 1.46, Spread: 0.08, Pareto: 1.5,
		Replicas: 0.2, Lasting: 6, Nodes: 0.03, Models: 0.04, Minute: 0.3, Follows: 0.8,
		Slowdown: 0.25, Uneven: 0.1, Swing: 0.6, Drift: 0.03,
	}
}

// began is the first hour, in hours since 1970.
const began = 480_000

// Cluster is a simulated cluster.
type Cluster struct {
	s         Settings
	random    *rand.Rand
	types     []*nodeType
	Workloads []*Workload
	// Applied is, by type, the ratio that sizes follow; nil if none does.
	Applied []float64
	// Alike lets replicas report equal requests, whatever is applied.
	Alike bool
	// Blind means that it is not known how busy nodes are.
	Blind bool
	hour  int64
}

type nodeType struct {
	name  string
	speed float64
	busy  float64
	nodes []*node
}

type node struct {
	key         evidence.Key
	zone, model string
	// busy is how busy it is on average while sizes are equally generous on all types, and packed while sizes follow what is applied.
	deviation, busy, packed float64
	now                     float64
}

// Workload is a simulated workload.
type Workload struct {
	Key evidence.Key
	// Namespace is the key of its namespace, and Floods means that it is one of those that claim something.
	Namespace evidence.Key
	Floods    bool
	Bias      Bias
	level     float64
	// deviations are how it deviates from the speed of each type.
	deviations   []float64
	swing, phase float64
	wander       float64
	// Known means that its work is known, and stays for how many hours it stays on a type; 0 if it runs on all.
	Known    bool
	stays    int64
	kinds    []int
	drift    float64
	replicas []*replica
	random   *rand.Rand
}

type replica struct {
	kind      int
	node      *node
	deviation float64
	led       float64
	age       int
	request   float64
	// what it does in an hour
	speed, share float64
}

// New returns a cluster. Clusters with the same seed and settings, except for biases, have the same workloads.
func New(seed uint64, s Settings) *Cluster {
	c := &Cluster{s: s, random: rand.New(rand.NewPCG(seed, 7)), hour: began}
	for t := range s.Types {
		x := &nodeType{name: fmt.Sprintf("t%d", t), busy: s.Uneven * c.random.NormFloat64()}
		if s.Types > 1 {
			x.speed = math.Log1p((s.Fastest - 1) * float64(t) / float64(s.Types-1))
		}
		for i := range s.NodesPerType {
			n := &node{key: evidence.KeyOf(fmt.Sprintf("t%d-%d", t, i)), zone: fmt.Sprintf("z%d", i%2), model: "old"}
			n.deviation = s.Nodes * s.deviation(c.random)
			if c.random.IntN(2) == 0 {
				n.model = "new"
				n.deviation += s.Models
				x.speed += s.Models / float64(s.NodesPerType) // The truth is about these nodes.
			}
			n.deviation -= s.Models / 2
			x.speed -= s.Models / 2 / float64(s.NodesPerType)
			n.busy = min(max(0.5+x.busy+0.1*c.random.NormFloat64(), 0.1), 0.9)
			x.nodes = append(x.nodes, n)
		}
		c.types = append(c.types, x)
	}
	// The nodes have the mean of their models in their deviations already.
	for _, t := range c.types {
		mean := 0.0
		for _, n := range t.nodes {
			if n.model == "new" {
				mean += s.Models / 2
			} else {
				mean -= s.Models / 2
			}
		}
		for _, n := range t.nodes {
			n.deviation -= mean / float64(len(t.nodes))
		}
	}
	c.pack()
	biased := int(math.Round(s.Biased * float64(s.Workloads)))
	for i := range s.Workloads {
		w := c.workload(seed, i)
		if i < biased {
			w.Bias = s.Biases[i%len(s.Biases)]
			w.lead()
		}
		c.know(w, i)
		if s.Namespaces > 0 {
			u := rand.New(rand.NewPCG(seed, uint64(500_000+i))).Float64()
			w.Namespace = evidence.KeyOf(fmt.Sprint("namespace ", int(u*u*float64(s.Namespaces))))
		}
		c.Workloads = append(c.Workloads, w)
	}
	for i := range s.Flood {
		c.Workloads = append(c.Workloads, c.flood(seed, 100_000+i))
	}
	return c
}

// flood returns a small workload that claims that all types are equally fast.
func (c *Cluster) flood(seed uint64, i int) *Workload {
	w := c.workload(seed, i)
	w.Namespace, w.Floods, w.level = evidence.KeyOf("flood"), true, math.Log(0.03)
	for t, x := range c.types {
		w.deviations[t] -= x.speed
	}
	var few []*replica // Two on each of two types.
	for i, r := range w.replicas {
		if slices.Contains(w.kinds[:2], r.kind) && (i < 2 || w.replicas[i-2].kind != r.kind) {
			few = append(few, r)
		}
	}
	w.replicas = few
	return w
}

func (c *Cluster) workload(seed uint64, i int) *Workload {
	random := rand.New(rand.NewPCG(seed, uint64(1000+i)))
	w := &Workload{Key: evidence.KeyOf(fmt.Sprintf("w%d", i)), random: random}
	w.level = math.Log(0.1) + min(-math.Log(1-random.Float64())/c.s.Pareto, math.Log(80)) // Pareto.
	w.swing, w.phase = c.s.Swing*(0.3+0.7*random.Float64()), 2*math.Pi*random.Float64()
	for range c.types {
		w.deviations = append(w.deviations, c.s.Spread/math.Sqrt2*c.s.deviation(random))
	}
	kinds := random.Perm(len(c.types))[:min(2+random.IntN(5), len(c.types))]
	if random.Float64() < 0.7 && !slices.Contains(kinds, 0) {
		kinds[0] = 0 // Most nodes have the baseline's type.
	}
	zones := 1 + random.IntN(2)
	first := random.IntN(2)
	w.kinds = kinds
	for _, t := range kinds {
		count := 2 + random.IntN(5)
		for z := range zones {
			for range count {
				nodes := c.types[t].nodes
				n := nodes[(random.IntN((len(nodes)+1)/2)*2+(first+z)%2)%len(nodes)]
				w.replicas = append(w.replicas, &replica{kind: t, node: n, request: 1, age: random.IntN(100), deviation: c.s.Replicas * random.NormFloat64()})
			}
		}
	}
	return w
}

// know lets the work of a workload be known, and lets it move. The known workloads are spread over all.
func (c *Cluster) know(w *Workload, i int) {
	part := func(number int, of float64) bool { return math.Mod(float64(number+1)*of, 1) < of }
	if w.Known = part(i, c.s.Known); w.Known && part(int(float64(i)*c.s.Known), c.s.Moving) {
		w.stays = 20 + int64(w.random.IntN(60))
	}
}

// active returns the type on which a workload runs that moves; −1 for all.
func (w *Workload) active(hour int64) int {
	if w.stays == 0 {
		return -1
	}
	return w.kinds[hour/w.stays%int64(len(w.kinds))]
}

// move starts the replicas of a workload on a type that it moved to, on nodes that have room.
func (c *Cluster) move(w *Workload) {
	kind := w.active(c.hour)
	if kind < 0 || kind == w.active(c.hour-1) {
		return
	}
	for _, r := range w.replicas {
		if r.kind == kind {
			nodes := c.types[kind].nodes
			r.node, r.deviation, r.age = nodes[w.random.IntN(len(nodes))], c.s.Replicas*w.random.NormFloat64(), 0
		}
	}
}

// deviation returns the deviation of a workload or a node, whose standard deviation is 1.
func (s *Settings) deviation(random *rand.Rand) float64 {
	x := random.NormFloat64()
	if !s.Heavy {
		return x
	}
	squares := 0.0
	for range 3 {
		y := random.NormFloat64()
		squares += y * y
	}
	return x / math.Sqrt(squares)
}

// Baseline returns the name of the baseline.
func (c *Cluster) Baseline() string { return c.types[0].name }

// Population returns the true logarithm of the ratio of a type to the baseline, for the mean of workloads like these.
func (c *Cluster) Population(t int) float64 { return c.types[t].speed - c.types[0].speed }

// Own returns that of a workload.
func (c *Cluster) Own(w *Workload, t int) float64 {
	return c.Population(t) + w.deviations[t] - w.deviations[0]
}

// Mean returns the mean over all workloads that do not flood, weighted by the cores that they use on the type.
func (c *Cluster) Mean(t int) float64 {
	sum, cores := 0.0, 0.0
	for _, w := range c.Workloads {
		if w.Floods {
			continue
		}
		own := 0.0
		for _, r := range w.replicas {
			if r.kind == t {
				own += math.Exp(w.level)
			}
		}
		if w.stays > 0 {
			own /= float64(len(w.kinds))
		}
		sum += own * (w.deviations[t] - w.deviations[0])
		cores += own
	}
	return c.Population(t) + sum/cores
}

// Another returns that of a workload that is not part of the cluster.
func (c *Cluster) Another(t int) float64 {
	return c.Population(t) + c.s.Spread/math.Sqrt2*(c.s.deviation(c.random)-c.s.deviation(c.random))
}

// Apply lets sizes follow ratios by type: pods on fast nodes are smaller, so that more of them share a node.
func (c *Cluster) Apply(ratios map[string]float64) {
	c.Applied = make([]float64, len(c.types))
	for t, x := range c.types {
		c.Applied[t] = 1
		if r := ratios[x.name]; r > 0 {
			c.Applied[t] = r
		}
	}
	c.pack()
}

// pack fills nodes by requests, of which replicas on fast types use less.
func (c *Cluster) pack() {
	for t, x := range c.types {
		more := 1.0
		if c.Applied != nil {
			more = c.Applied[t]
		}
		if c.s.Packed {
			more /= math.Exp(x.speed - c.types[0].speed)
		}
		for _, n := range x.nodes {
			n.packed = min(n.busy*more, 0.95)
		}
	}
}

// Run adds days of hours to evidence.
func (c *Cluster) Run(e *evidence.Evidence, days int) {
	for range days * 24 {
		c.step(e)
	}
}
