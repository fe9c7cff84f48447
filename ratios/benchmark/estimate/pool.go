package estimate

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// test identifies scores of different machines that can be compared.
type test struct {
	benchmark, version string
	vcpus              int
}

func (k *Key) test() test { return test{k.Benchmark, k.Version, k.VCPUs} }

func (t test) compare(other test) int {
	return cmp.Or(strings.Compare(t.benchmark, other.benchmark), strings.Compare(t.version, other.version), cmp.Compare(t.vcpus, other.vcpus))
}

// series has the scores of the machines of a pool in one test.
type series struct {
	test
	own               bool
	scores            scores
	samples, machines int
	oldest, newest    time.Time
	// all is the logarithm of the score per vCPU with all threads busy: the mean over
	// machines. single is the same for one thread; NaN if it is not known.
	all, single float64
	// load is the mean over machines of the share of the time that other processes used.
	load float64
}

// pool has the machines that a name stands for: all machines of a node type, or those with one
// CPU model of it. All its series have scores.
type pool struct {
	name   string
	series []*series
	// threadsPerCore is 0 if it is not known, or not the same for all machines.
	threadsPerCore int
	// gain is, per size, the mean of single − all over the benchmarks that have both.
	gain map[int]float64
}

// nodeType returns the node type, without a CPU model.
func (p *pool) nodeType() string {
	nodeType, _ := nodetype.SplitModel(p.name)
	return nodeType
}

// newPool combines the aggregates of several CPU models, all of which have scores. Outliers
// were dropped per model before, because machines of another model are not outliers.
func newPool(name string, aggregates []*Aggregate) *pool {
	byTest := make(map[test][]*Aggregate)
	p := &pool{name: name}
	mixed := false
	for _, a := range aggregates {
		byTest[a.test()] = append(byTest[a.test()], a)
		if n := a.ThreadsPerCore; n > 0 {
			mixed = mixed || p.threadsPerCore > 0 && p.threadsPerCore != n
			p.threadsPerCore = n
		}
	}
	if mixed {
		p.threadsPerCore = 0
	}
	for t, parts := range byTest {
		x := &series{test: t, own: parts[0].own}
		for _, a := range parts {
			x.samples += a.Samples
			x.oldest, x.newest = earlier(x.oldest, a.Oldest), later(x.newest, a.Newest)
			x.scores = append(x.scores, a.scores...)
		}
		x.scores = newScores(x.scores)
		x.machines = len(x.scores.perMachine())
		x.all, x.single = x.scores.means()
		x.load = x.scores.load()
		p.series = append(p.series, x)
	}
	slices.SortFunc(p.series, func(a, b *series) int { return a.compare(b.test) })
	p.gain = gains(p.series)
	return p
}

// means returns the weighted means of the logarithms of the scores on all vCPUs and on one
// thread; the second is NaN if no score has one.
func (s scores) means() (all, single float64) {
	weights, of := 0.0, 0.0
	for _, x := range s {
		all += x.weight * math.Log(x.value)
		weights += x.weight
		if x.single > 0 {
			single += x.weight * math.Log(x.single)
			of += x.weight
		}
	}
	if of == 0 {
		return all / weights, math.NaN()
	}
	return all / weights, single / of
}

// load returns the weighted mean of the loads.
func (s scores) load() float64 {
	weights, load := 0.0, 0.0
	for _, x := range s {
		load += x.weight * x.load
		weights += x.weight
	}
	return load / weights
}

func gains(of []*series) map[int]float64 {
	sum, n := make(map[int]float64), make(map[int]float64)
	for _, x := range of {
		if !math.IsNaN(x.single) {
			sum[x.vcpus] += x.single - x.all
			n[x.vcpus]++
		}
	}
	for vcpus := range sum {
		sum[vcpus] /= n[vcpus]
	}
	return sum
}

// oneThread returns the logarithm of the score of one thread in a series of the pool. A benchmark
// that was not run on one thread gains as much from an idle sibling as the others do. It is NaN
// if no benchmark has both.
func (p *pool) oneThread(x *series) float64 {
	if !math.IsNaN(x.single) {
		return x.single
	}
	if gain, ok := p.gain[x.vcpus]; ok {
		return x.all + gain
	}
	if p.threadsPerCore == 1 {
		return x.all
	}
	return math.NaN()
}

// atLoad returns the logarithm of the speed if the sibling thread is busy in a share of the busy
// time; NaN if it is not known.
func (p *pool) atLoad(x *series, load float64) float64 {
	if load == 1 {
		return x.all
	}
	return x.all - math.Log((1-load)*math.Exp(x.all-p.oneThread(x))+load)
}
