package truth

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// Settings describe workloads and the nodes they run on. Standard deviations are of logarithms.
type Settings struct {
	Seed uint64
	// Types are the node types. The first one is the baseline.
	Types []Type
	// Count is the number of workloads, and Each how many pods of each of them run on nodes of each type.
	Count, Each int
	// Nodes is how many nodes each type has.
	Nodes int
	// Spread is how the speed of a type differs between workloads, and NodeSpread how the nodes of a type differ.
	Spread, NodeSpread float64
	// Replicas is how pods differ for hours, and Noise how they differ for minutes.
	Replicas, Noise float64
}

// Defaults returns settings with three types and no workloads.
func Defaults() Settings {
	return Settings{Seed: 1, Types: []Type{{"n2d", 1}, {"n4", 1.25}, {"c3", 1.4}}, Each: 2, Spread: 0.08, NodeSpread: 0.03, Replicas: 0.1, Noise: 0.2}
}

// Type is a node type.
type Type struct {
	Name  string
	Speed float64
}

// Kind is a way in which workloads behave.
type Kind string

// The kinds of workloads. All except the plain ones mislead.
const (
	Plain Kind = "plain"
	// Throttled has a limit that is too low for its peaks on slow nodes.
	Throttled Kind = "throttled"
	// Pulling takes as much work as its node can do.
	Pulling Kind = "pulling"
	// Led has a pod that does more than the others.
	Led Kind = "led"
)

// kindOf returns the kind of a workload: of each twenty, two are throttled, one pulls and one is led.
func kindOf(i int) Kind {
	switch i % 20 {
	case 4, 14:
		return Throttled
	case 9:
		return Pulling
	case 19:
		return Led
	}
	return Plain
}

// Truth says what pods use. It is immutable.
type Truth struct {
	Settings
	Workloads []Workload
	// nodes are the deviations of the nodes of each type, by number.
	nodes map[string][]float64
}

// Workload is a workload whose pods run on nodes of all types.
type Workload struct {
	Number int
	Name   string
	Kind   Kind
	// Cores is what a pod uses on average on a node of the baseline.
	Cores float64
	// deviations are how it deviates from the speed of each type.
	deviations   map[string]float64
	swing, phase float64
}

// Limit returns the limit of the workload's pods in cores; 0 if they have none.
func (w *Workload) Limit() float64 {
	if w.Kind != Throttled {
		return 0
	}
	return 1.4 * w.Cores
}

// New returns the truth of settings.
func New(s Settings) *Truth {
	random := rand.New(rand.NewPCG(s.Seed, 1))
	t := &Truth{Settings: s, nodes: map[string][]float64{}}
	for _, of := range s.Types {
		t.nodes[of.Name] = centered(random, s.Nodes, s.NodeSpread)
	}
	for i := range s.Count {
		w := Workload{
			Number: i, Name: fmt.Sprintf("w%d", i), Kind: kindOf(i), Cores: 0.3 * math.Exp(random.Float64()*math.Log(6)), deviations: map[string]float64{},
			swing: 0.3 + 0.4*random.Float64(), phase: random.Float64(),
		}
		for _, of := range s.Types {
			w.deviations[of.Name] = s.Spread / math.Sqrt2 * random.NormFloat64()
		}
		t.Workloads = append(t.Workloads, w)
	}
	return t
}

// centered returns numbers with a standard deviation, and a mean of 0: then the mean of a type's nodes is the speed of the type.
func centered(random *rand.Rand, n int, deviation float64) []float64 {
	all, mean := make([]float64, n), 0.0
	for i := range all {
		all[i] = random.NormFloat64()
		mean += all[i] / float64(n)
	}
	squares := 0.0
	for i := range all {
		all[i] -= mean
		squares += all[i] * all[i]
	}
	for i := range all {
		all[i] *= deviation / math.Sqrt(cmp.Or(squares/float64(max(n-1, 1)), 1))
	}
	return all
}

// speed returns the logarithm of the speed of a type for a workload.
func (t *Truth) speed(w *Workload, of Type) float64 {
	return math.Log(of.Speed) + w.deviations[of.Name]
}

// Ratio returns how many times as fast as the baseline a type is, for the mean of the workloads, weighted by the cores that they use on it.
func (t *Truth) Ratio(name string) float64 {
	of := t.named(name)
	sum, cores := 0.0, 0.0
	for i := range t.Workloads {
		w := &t.Workloads[i]
		own := w.Cores * math.Exp(-t.speed(w, of))
		sum += own * (t.speed(w, of) - t.speed(w, t.Types[0]))
		cores += own
	}
	return math.Exp(sum / cores)
}

func (t *Truth) named(name string) Type {
	for _, of := range t.Types {
		if of.Name == name {
			return of
		}
	}
	panic(fmt.Sprintf("there is no node type %q", name))
}

// Pod is a pod.
type Pod struct {
	Name, Type string
	// Node is the number of its node among those of the type.
	Node int
	// Leads means that it leads the other pods of its workload, if that is led.
	Leads bool
}

// Uses returns how many cores a pod of a workload uses on average in the five minutes before a time, if nothing limits it.
func (t *Truth) Uses(w *Workload, p Pod, at time.Time) float64 {
	day := float64(at.Unix()) / (24 * 60 * 60)
	log := math.Log(w.Cores*(1+w.swing*math.Sin(2*math.Pi*(day+w.phase)))) + t.wanders(p.Name, at) + t.Noise*normal(p.Name, at.Unix())
	if w.Kind == Led && p.Leads {
		log += math.Log(2.5)
	}
	if w.Kind == Pulling {
		return math.Exp(log) // It gets work by its speed.
	}
	return math.Exp(log - t.speed(w, t.named(p.Type)) - t.nodes[p.Type][p.Node])
}

// lasts is for how many hours pods differ.
const lasts = 6

// wanders returns how a pod differs from others for hours.
func (t *Truth) wanders(pod string, at time.Time) float64 {
	sum, hour := 0.0, at.Unix()/(60*60)
	for i := range int64(lasts) {
		sum += normal(pod, -hour-i)
	}
	return t.Replicas * sum / math.Sqrt(lasts)
}

// normal returns a normally distributed number that depends only on the arguments.
func normal(name string, number int64) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, name, " ", number)
	return rand.New(rand.NewPCG(h.Sum64(), uint64(number))).NormFloat64()
}
