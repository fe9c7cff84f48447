package productiontest

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

var (
	runs  = flag.Int("runs", 2, "the number of simulated clusters per case; the bars of the project are for 2,000")
	first = flag.Uint64("seed", 1, "the seed of the first cluster")
	full  = flag.Bool("full", false, "simulate clusters of the full size, and each kind of bias alone, even if there are few runs")
	// Clusters of any size take most of the time.
	clusters = flag.Int("clusters", 0, "the number of clusters of any size; 0 for half of the runs, at least 4")
	largest  = flag.Float64("largest", 500, "the largest number of workloads in a cluster of any size")
)

// outcome is what came of many runs.
type outcome struct {
	cluster, population                  []float64
	covers, coversPopulation, coversNext int
	intervals                            int
	// signed are the signed errors, by type.
	signed             map[int][]float64
	honestHeld, honest int
	reasons            map[string]int
	between, nodes     float64
	widths             []float64
	// singles is how many ratios of single workloads there are, coversSingle of how many the interval has the truth, differ how many exclude the
	// cluster's ratio, and wrongly how many of these are on the other side of it.
	singles, coversSingle, differ, wrongly int
}

func newOutcome() *outcome { return &outcome{signed: map[int][]float64{}, reasons: map[string]int{}} }

// run adds a cluster, whose time passes as given.
func (o *outcome) run(seed uint64, s Settings, passes func(*Cluster, *evidence.Evidence)) {
	c := New(seed, s)
	e := evidence.New()
	passes(c, e)
	r := estimate.Estimate(e, c.Baseline(), estimate.Defaults())
	o.between += r.Between
	o.nodes += r.Nodes
	for i := range r.Types {
		x := &r.Types[i]
		t := number(x.NodeType)
		if x.Cluster.Ratio == 0 {
			continue
		}
		o.intervals++
		mean, population, next := math.Exp(c.Mean(t)), math.Exp(c.Population(t)), math.Exp(c.Another(t))
		o.cluster = append(o.cluster, math.Abs(x.Cluster.Ratio/mean-1))
		o.population = append(o.population, math.Abs(x.Population.Ratio/population-1))
		o.signed[t] = append(o.signed[t], math.Log(x.Cluster.Ratio/mean))
		o.widths = append(o.widths, x.Cluster.High/x.Cluster.Ratio-1)
		o.covers += within(x.Cluster, mean)
		o.coversPopulation += within(x.Population, population)
		o.coversNext += within(x.Next, next)
	}
	all := map[evidence.Key]*Workload{}
	for _, w := range c.Workloads {
		all[w.Key] = w
	}
	clusters := map[string]float64{}
	for i := range r.Types {
		clusters[r.Types[i].NodeType] = r.Types[i].Cluster.Ratio
	}
	for _, w := range r.Workloads {
		of := all[w.Key]
		for _, x := range w.Types {
			truth := math.Exp(c.Own(of, number(x.NodeType)))
			o.singles++
			o.coversSingle += within(x.Ratio, truth)
			if x.Differs {
				o.differ++
				if (truth > clusters[x.NodeType]) != (x.Ratio.Ratio > clusters[x.NodeType]) {
					o.wrongly++
				}
			}
		}
		b := of.Bias
		if of.Floods {
			b = "flood"
		}
		o.reasons[fmt.Sprintf("%s:%s", b, w.Held)]++
		if b == "" {
			o.honest++
			if w.Held != "" {
				o.honestHeld++
			}
		}
	}
}

// number returns the number of a type.
func number(name string) int { return int(name[1] - '0') }

func within(i estimate.Interval, truth float64) int {
	if i.Low <= truth && truth <= i.High {
		return 1
	}
	return 0
}

func simulate(s Settings) *outcome {
	o := newOutcome()
	for i := range *runs {
		o.run(*first+uint64(i), s, func(c *Cluster, e *evidence.Evidence) { c.Run(e, s.Days) })
	}
	o.sort()
	return o
}

func (o *outcome) sort() {
	slices.Sort(o.cluster)
	slices.Sort(o.population)
	slices.Sort(o.widths)
}

// moved returns by how much the mean of any ratio moved from that of another outcome.
func (o *outcome) moved(from *outcome) float64 {
	most := 0.0
	for t, errors := range o.signed {
		most = max(most, math.Abs(mean(errors)-mean(from.signed[t])))
	}
	return most
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func (o *outcome) log(t *testing.T, name string) {
	n := float64(o.intervals)
	t.Logf("%s: median error %.2f%% (cluster) %.2f%% (population), coverage %.1f/%.1f/%.1f%%, width %.2f%%, between %.3f nodes %.3f, held honest %d of %d; single workloads: coverage %.1f%%, %d of %d differ, %d of them wrongly",
		name, 100*o.cluster[len(o.cluster)/2], 100*o.population[len(o.population)/2], 100*float64(o.covers)/n, 100*float64(o.coversPopulation)/n, 100*float64(o.coversNext)/n,
		100*o.widths[len(o.widths)/2], o.between/float64(*runs), o.nodes/float64(*runs), o.honestHeld, o.honest,
		100*float64(o.coversSingle)/float64(max(o.singles, 1)), o.differ, o.singles, o.wrongly)
}

// long reports whether there are enough runs for the bars; few runs only show gross errors.
func long() bool { return *runs >= 100 }

// settings returns the settings of the project's bars, or of smaller clusters if there are few runs.
func settings() Settings {
	s := Defaults()
	if !long() && !*full {
		s.Workloads, s.Days = 100, 7
	}
	return s
}

// check compares a number with a bar, and with a wider one if there are few runs.
func check(t *testing.T, what string, got, low, high, wider float64) {
	t.Helper()
	if !long() {
		low, high = low-wider, high+wider
	}
	if got < low || got > high {
		t.Errorf("%s is %.4f, want %.4f to %.4f", what, got, low, high)
	}
}

func TestSimulation(t *testing.T) {
	t.Run("is right without biases", isRightWithoutBiases)
	t.Run("is hardly moved by biases", isHardlyMovedByBiases)
	t.Run("shows ratios after a day", showsRatiosAfterADay)
	t.Run("is not outvoted by many small workloads", isNotOutvoted)
	t.Run("counts work that is known", countsWorkThatIsKnown)
	t.Run("learns whether sizes matter", learnsWhetherSizesMatter)
	t.Run("applies what is right in clusters of any size", appliesWhatIsRightInClustersOfAnySize)
	t.Run("what is applied hardly changes what is estimated", whatIsAppliedHardlyChangesWhatIsEstimated)
	t.Run("what is applied converges", whatIsAppliedConverges)
}

func (o *outcome) coverage(n int) float64 { return float64(n) / float64(o.intervals) }

// unbiased is the outcome without biases, with which others are compared.
var unbiased = sync.OnceValue(func() *outcome { return simulate(settings()) })

func isRightWithoutBiases(t *testing.T) {
	o := unbiased()
	o.log(t, "honest")
	check(t, "the median error of the cluster", o.cluster[len(o.cluster)/2], 0, 0.01, 0.01)
	check(t, "the median error of the population", o.population[len(o.population)/2], 0, 0.015, 0.01)
	check(t, "the coverage of the cluster", o.coverage(o.covers), 0.93, 0.97, 0.25)
	check(t, "the coverage of the population", o.coverage(o.coversPopulation), 0.93, 0.97, 0.25)
	check(t, "the coverage of the next workload", o.coverage(o.coversNext), 0.93, 0.97, 0.25)
	check(t, "the coverage of single workloads", float64(o.coversSingle)/float64(o.singles), 0.93, 0.98, 0.05)
	check(t, "how many that differ are on the other side", float64(o.wrongly)/float64(max(o.differ, 1)), 0, 0.025, 0.03)
	if o.differ < o.singles/50 {
		t.Errorf("%d of %d single workloads differ: this test shows nothing", o.differ, o.singles)
	}
}

// isNotOutvoted checks a namespace with three times as many workloads as all others together, which use a few percent of the cores.
func isNotOutvoted(t *testing.T) {
	s, honest := settings(), unbiased()
	s.Flood = 3 * s.Workloads
	o := simulate(s)
	o.log(t, "flooded")
	t.Logf("moved %.2f%%", 100*o.moved(honest))
	check(t, "how far ratios are moved by small workloads", o.moved(honest), 0, 0.015, 0.005)
	check(t, "the coverage with small workloads", o.coverage(o.covers), 0.88, 1, 0.25)
}

func isHardlyMovedByBiases(t *testing.T) {
	honest := unbiased()
	kinds := map[string][]Bias{"all": Biases}
	if long() || *full {
		for _, b := range Biases {
			kinds[string(b)] = []Bias{b}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		s := settings()
		s.Biased, s.Biases = 0.2, kinds[name]
		o := simulate(s)
		o.log(t, name)
		t.Logf("%s: moved %.2f%%", name, 100*o.moved(honest))
		check(t, "the coverage with "+name, o.coverage(o.covers), 0.88, 1, 0.25)
		check(t, "how far ratios are moved by "+name, o.moved(honest), 0, 0.015, 0.015)
		for _, k := range slices.Sorted(maps.Keys(o.reasons)) {
			if k[0] != ':' {
				t.Log("   ", k, o.reasons[k])
			}
		}
	}
}

// countsWorkThatIsKnown checks workloads whose work is known: a third of them move from type to type, and all that is due to how work
// is shared misleads nobody.
func countsWorkThatIsKnown(t *testing.T) {
	s := settings()
	s.Known, s.Moving = 1, 1.0/3
	honest := simulate(s)
	honest.log(t, "known")
	check(t, "the median error of the cluster", honest.cluster[len(honest.cluster)/2], 0, 0.015, 0.03)
	check(t, "the coverage of the cluster", honest.coverage(honest.covers), 0.93, 0.98, 0.25)
	check(t, "the coverage of the population", honest.coverage(honest.coversPopulation), 0.9, 0.98, 0.25)
	s.Biased, s.Biases = 1, []Bias{Balanced, Pulling}
	biased := simulate(s)
	biased.log(t, "known and balanced, or pulling")
	t.Logf("moved %.2f%%", 100*biased.moved(honest))
	check(t, "the coverage with balanced work", biased.coverage(biased.covers), 0.93, 0.98, 0.25)
	check(t, "how far ratios are moved by balanced work", biased.moved(honest), 0, 0.005, 0.01)
	for _, key := range slices.Sorted(maps.Keys(honest.reasons)) {
		t.Log("   ", key, honest.reasons[key])
	}
	for key, count := range biased.reasons {
		if strings.HasSuffix(key, string(":"+estimate.Pulls)) || strings.HasSuffix(key, string(":"+estimate.SameUsage)) || strings.HasSuffix(key, string(":"+estimate.SlopeFalls)) {
			t.Errorf("%d are held back although their work is known: %s", count, key)
		}
	}

	s = settings()
	s.Known, s.Moving = 1, 1
	moving := simulate(s)
	moving.log(t, "moving")
	check(t, "the median error of what moves", moving.cluster[len(moving.cluster)/2], 0, 0.02, 0.02)
	check(t, "the coverage of what moves", moving.coverage(moving.covers), 0.9, 0.99, 0.25)
}

// learnsWhetherSizesMatter checks clusters whose sizes follow ratios after five days, or from the beginning. Larger replicas of every
// fifth workload do more of the work, and every fifth pulls its work, which nobody says.
func learnsWhetherSizesMatter(t *testing.T) {
	s := settings()
	s.Days, s.Biased, s.Biases = 14, 0.4, []Bias{Resized, Pulling}
	for name, alike := range map[string]int{"alike for five days": 5, "never alike": 0} {
		o := newOutcome()
		for i := range *runs {
			o.run(*first+uint64(i), s, func(c *Cluster, e *evidence.Evidence) {
				c.Run(e, alike)
				ratios := map[string]float64{}
				for k, x := range c.types {
					ratios[x.name] = math.Exp(c.Population(k))
				}
				c.Apply(ratios)
				c.Run(e, s.Days-alike)
				for _, x := range estimate.Estimate(e, c.Baseline(), estimate.Defaults()).Types {
					if differ := slices.ContainsFunc(x.Doubts, func(d estimate.Doubt) bool { return d.Code == estimate.SizesDiffer }); differ != (alike == 0) {
						t.Errorf("%s: %s is doubtful for sizes: %v", name, x.NodeType, differ)
					}
				}
			})
		}
		o.sort()
		o.log(t, name)
		for _, key := range slices.Sorted(maps.Keys(o.reasons)) {
			t.Log("   ", key, o.reasons[key])
		}
		if alike == 0 && o.intervals != (s.Types-1)**runs {
			t.Errorf("%s: %d types have a ratio", name, o.intervals)
		}
		check(t, "the median error, "+name, o.cluster[len(o.cluster)/2], 0, [2]float64{0.03, 0.015}[min(alike, 1)], 0.01)
		check(t, "the coverage, "+name, o.coverage(o.covers), 0.88, 1, 0.25)
	}
}

// anySettings returns settings of clusters of any size, whose workloads, replicas and nodes differ by half or twice as much
// as by default.
func anySettings(random *rand.Rand) Settings {
	s := Defaults()
	between := func(low, high float64) float64 { return low * math.Exp(random.Float64()*math.Log(high/low)) }
	s.Workloads = int(between(5, *largest))
	s.Types, s.NodesPerType, s.Days = 2+random.IntN(7), 2+random.IntN(30), 3+random.IntN(12)
	s.Fastest, s.Spread, s.Nodes, s.Models = between(1.1, 1.8), between(0.04, 0.16), between(0.01, 0.06), between(0.01, 0.08)
	s.Replicas, s.Lasting, s.Minute = between(0.08, 0.4), between(1, 48), between(0.1, 0.6)
	s.Slowdown, s.Uneven, s.Swing = between(0.05, 0.5), between(0.03, 0.25), between(0.2, 1)
	return s
}

func appliesWhatIsRightInClustersOfAnySize(t *testing.T) {
	applied, wrong, silent := 0, 0, 0
	count := *clusters
	if count == 0 {
		count = max(*runs/2, 4)
	}
	for i := range count {
		seed := *first + 1_000_000 + uint64(i)
		random := rand.New(rand.NewPCG(seed, 3))
		s := anySettings(random)
		if i%2 == 1 {
			s.Biased, s.Biases = 0.2, Biases
		}
		c := New(seed, s)
		e := evidence.New()
		c.Run(e, s.Days)
		for _, x := range estimate.Estimate(e, c.Baseline(), estimate.Defaults()).Types {
			if len(x.Doubts) > 0 {
				silent++
				for _, d := range x.Doubts {
					if d.Detail == "" {
						t.Errorf("%s without details", d.Code)
					}
				}
				continue
			}
			applied++
			if math.Abs(x.Cluster.Ratio/math.Exp(c.Mean(number(x.NodeType)))-1) > 0.03 {
				wrong++
			}
			if s.Workloads < 8 {
				t.Errorf("%d workloads are enough", s.Workloads)
			}
		}
	}
	t.Logf("%d applied, of which %d are off by more than 3%%; %d not", applied, wrong, silent)
	if silent == 0 || float64(wrong) > 0.05*float64(applied)+1 {
		t.Errorf("%d of %d applied ratios are off by more than 3%%", wrong, applied)
	}
}
