package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/util"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// pair is a workload in our history and in the VPA.
type pair struct {
	theirs    *vpa
	ours      *history.History
	container history.Container
	pods      []history.Pod
	options   recommend.Options
	clock     time.Time
}

// newPair returns a workload without history.
func newPair(pods int) *pair {
	p := &pair{
		theirs: newVPA(&vpaPolicy{config: defaultConfig()}, pods), container: history.Container{Name: container},
		options: recommend.CompatOptions(),
	}
	collect := history.DefaultOptions()
	collect.Compat = true
	p.ours = history.New(func(history.Container) history.Options { return collect })
	for i := range pods {
		p.pods = append(p.pods, history.Pod{UID: fmt.Sprint(i), NodeType: "n2d"})
	}
	return p
}

// now returns the time of the newest measurement.
func (p *pair) now(at time.Time) time.Time {
	if at.After(p.clock) {
		p.clock = at
	}
	return p.clock
}

// use records what a pod uses. Our history may reject what the VPA drops silently.
func (p *pair) use(pod int, at time.Time, millicores, bytes int64) {
	p.theirs.record(pod, model.ResourceCPU, at, millicores)
	p.theirs.record(pod, model.ResourceMemory, at, bytes)
	_ = p.ours.Record(p.container, history.Sample{Pod: p.pods[pod], Resource: history.CPU, At: at, Usage: millicores}, p.now(at))
	_ = p.ours.Record(p.container, history.Sample{Pod: p.pods[pod], Resource: history.Memory, At: at, Usage: bytes}, p.now(at))
}

// kill records a kill.
func (p *pair) kill(pod int, at time.Time, request int64) {
	_ = p.theirs.cluster.RecordOOM(p.theirs.container(pod), at, model.ResourceAmount(request))
	_ = p.ours.RecordKill(p.container, history.Kill{Pod: p.pods[pod], At: at, Request: request}, p.now(at))
}

// compare compares recommendations.
func (p *pair) compare(t *testing.T, at time.Time) {
	t.Helper()
	theirs, ok := p.theirs.recommend()
	view, known := p.ours.View(p.container, at)
	ours, ok2 := recommend.For(recommend.NewDemand(view, recommend.Uniform), 1, &p.options, at)
	if ok != known || ok != ok2 {
		t.Fatalf("%v: VPA has a recommendation: %v; we have one: %v, %v", at, ok, known, ok2)
	}
	want := func(name string, r model.Resources, a recommend.Amounts) {
		if got := (recommend.Amounts{CPU: int64(r[model.ResourceCPU]), Memory: int64(r[model.ResourceMemory])}); got != a {
			t.Fatalf("%v: %s is %+v, VPA %+v", at, name, a, got)
		}
	}
	want("target", theirs.Target, ours.Target)
	want("lower bound", theirs.LowerBound, ours.Lower)
	want("upper bound", theirs.UpperBound, ours.Upper)
}

// compareCheckpoints compares checkpoints byte by byte, except for the last digits of total weights.
// The VPA subtracts the peaks of pods in the order of a map, which decides about these.
func (p *pair) compareCheckpoints(t *testing.T, at time.Time) {
	t.Helper()
	ours, ok := p.ours.Checkpoint(p.container, "n2d", at)
	if !ok {
		t.Fatal("no checkpoint")
	}
	// As in the VPA's writer of checkpoints, which has no function for this.
	state := p.theirs.vpa.AggregateStateByContainerName()[container]
	for _, id := range p.theirs.pods {
		if c := p.theirs.cluster.Pods()[id].Containers[container]; at.Before(c.WindowEnd) {
			state.AggregateMemoryPeaks.SubtractSample(model.BytesFromMemoryAmount(c.GetMaxMemoryPeak()), 1, c.WindowEnd)
		}
	}
	theirs, err := state.SaveToCheckpoint()
	if err != nil {
		t.Fatal(err)
	}
	theirs.LastUpdateTime = metav1.NewTime(at)
	if got, want := marshal(t, ours), marshal(t, theirs); !bytes.Equal(got, want) {
		t.Fatalf("%v: checkpoint\n%s\nVPA\n%s", at, got, want)
	}
}

// marshal returns JSON with sorted keys, and total weights of 12 digits.
func marshal(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		t.Fatal(err)
	}
	for _, histogram := range fields {
		if of, ok := histogram.(map[string]any); ok && of["totalWeight"] != nil {
			total, err := of["totalWeight"].(json.Number).Float64()
			if err != nil {
				t.Fatal(err)
			}
			of["totalWeight"] = fmt.Sprintf("%.12g", total)
		}
	}
	text, err = json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var begin = time.Date(2026, 3, 1, 10, 17, 3, 0, time.UTC)

func TestEqualToTheVPA(t *testing.T) {
	for _, pods := range []int{1, 3} {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("generated series of %d pods, seed %d", pods, seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 7))
				p := newPair(pods)
				level := 100e6 * math.Exp(random.Float64()*5)
				at := begin
				for minute := range 14 * 24 * 60 {
					at = at.Add(time.Minute)
					if seed == 5 && minute%7 != 0 { // sparse, with gaps of days
						at = at.Add(time.Duration(random.IntN(20)) * time.Minute)
					}
					for pod := range pods {
						if random.Float64() < 0.02 {
							continue
						}
						daily := 1 + 0.5*math.Sin(float64(minute)/1440*2*math.Pi)
						p.use(pod, at.Add(time.Duration(pod)*time.Second), int64(400*daily*math.Exp(random.NormFloat64())), int64(level*daily*math.Exp(0.2*random.NormFloat64())))
						if random.Float64() < 0.0003 {
							p.kill(pod, at.Add(30*time.Second), int64(level*(0.5+random.Float64())))
						}
						if random.Float64() < 0.0005 { // late and repeated
							p.use(pod, at.Add(-time.Duration(random.IntN(3600))*time.Second), 1000, int64(level))
						}
					}
					if minute%60 == 0 {
						p.compare(t, at)
					}
					if minute%1440 == 700 {
						p.compareCheckpoints(t, at)
					}
				}
			})
		}
	}
	t.Run("samples that are older than a kill", func(t *testing.T) {
		p := newPair(1)
		at := begin.AddDate(0, 0, 3)
		p.kill(0, at, 300e6)
		for hour := range 80 {
			p.use(0, begin.Add(time.Duration(hour)*time.Hour), 100, int64(400e6+5e6*float64(hour)))
			p.compare(t, at)
		}
		p.kill(0, at.AddDate(0, 0, -1), 300e6)
		for hour := range 80 {
			p.use(0, begin.Add(time.Duration(hour+40)*time.Hour), 100, int64(500e6+5e6*float64(hour)))
			p.compare(t, p.clock)
			p.compareCheckpoints(t, p.clock)
		}
	})
	t.Run("a silence of more than 100 half-lives", func(t *testing.T) {
		p := newPair(1)
		for i, days := range []int{0, 1, 2, 103, 104, 250} {
			at := begin.AddDate(0, 0, days)
			p.use(0, at, int64(100*(i+1)), int64(200e6*float64(i+1)))
			p.compare(t, at)
			p.compareCheckpoints(t, at)
		}
	})
}

// TestEqualOnTraces compares on recorded series: TRACE, or the trace that comes with the project.
func TestEqualOnTraces(t *testing.T) {
	file := os.Getenv("TRACE")
	if file == "" {
		file = "../../../usage/trace/testdata/small.csv.gz"
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	compared := 0
	if err := trace.Read(in, func(m *trace.Machine) error {
		p := newPair(1)
		limit := m.Given.Limit.Memory
		if limit == 0 {
			return nil // It is unknown.
		}
		for i, row := range m.Rows {
			at := time.Unix(row.At, 0).UTC()
			p.use(0, at, row.CPU, min(row.Memory, limit))
			if row.Memory > limit {
				p.kill(0, at, limit)
				limit = limit * 6 / 5
			}
			if i%12 == 0 {
				p.compare(t, at)
				compared++
			}
			if i%1000 == 0 {
				p.compareCheckpoints(t, at)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d recommendations are equal", compared)
}

func TestHistogramsEqualTheVPAs(t *testing.T) {
	shape := &histogram.Shape{Buckets: histogram.CPU, HalfLife: time.Hour}
	buckets, err := util.NewExponentialHistogramOptions(1000, 0.01, 1.05, 0.0001)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		ours, theirs := histogram.New(shape), util.NewDecayingHistogram(buckets, time.Hour)
		at := begin
		type added struct {
			value float64
			at    time.Time
		}
		var all []added
		for range 3000 {
			at = at.Add(time.Duration(random.ExpFloat64() * float64(time.Minute)))
			value := math.Exp(3*random.NormFloat64() - 2)
			ours.Add(value, 0.1, at)
			theirs.AddSample(value, 0.1, at)
			all = append(all, added{value, at})
			if random.Float64() < 0.1 {
				last := len(all) - 1
				ours.Subtract(all[last].value, 0.1, all[last].at)
				theirs.SubtractSample(all[last].value, 0.1, all[last].at)
				all = all[:last]
			}
			if ours.Empty() != theirs.IsEmpty() {
				t.Fatalf("empty: %v, VPA %v", ours.Empty(), theirs.IsEmpty())
			}
			for _, p := range []float64{0.001, 0.25, 0.5, 0.9, 0.95, 0.99} {
				if got, want := ours.Percentile(p), theirs.Percentile(p); got != want {
					t.Fatalf("percentile %v is %v, VPA %v", p, got, want)
				}
			}
		}
		checkpoint, err := theirs.SaveToChekpoint()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := marshal(t, ours.Checkpoint()), marshal(t, checkpoint); !bytes.Equal(got, want) {
			t.Fatalf("checkpoint\n%s\nVPA\n%s", got, want)
		}
	}
}

// TestMerging compares unions of parts with the same factor with the VPA's merged histograms.
// They are equal unless the percentile is a tie.
func TestMerging(t *testing.T) {
	shape := &histogram.Shape{Buckets: histogram.Memory, HalfLife: 24 * time.Hour}
	buckets, err := util.NewExponentialHistogramOptions(1e12, 1e7, 1.05, 0.0001)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for range 2000 {
		merged := util.NewDecayingHistogram(buckets, 24*time.Hour)
		var parts []histogram.Part
		type weighted struct{ value, weight float64 }
		var all []weighted
		end := begin.AddDate(0, 0, 10)
		for range 1 + random.IntN(4) {
			h, v := histogram.New(shape), util.NewDecayingHistogram(buckets, 24*time.Hour)
			for range 1 + random.IntN(30) {
				at := begin.Add(time.Duration(random.IntN(10*24)) * time.Hour)
				value := 1e8 * math.Exp(random.NormFloat64())
				h.Add(value, 1, at)
				v.AddSample(value, 1, at)
				all = append(all, weighted{value, math.Exp2(-end.Sub(at).Hours() / 24)})
			}
			merged.Merge(v)
			parts = append(parts, histogram.Part{Histogram: h.Clone(), Factor: 1})
		}
		slices.SortFunc(all, func(a, b weighted) int { return int(math.Copysign(1, a.value-b.value)) })
		total := 0.0
		for _, w := range all {
			total += w.weight
		}
		for _, p := range []float64{0.5, 0.9, 0.95} {
			tie, sum := false, 0.0
			for _, w := range all {
				sum += w.weight
				tie = tie || math.Abs(sum/total-p) < 1e-9
			}
			if got, want := histogram.Percentile(p, parts...), merged.Percentile(p); got != want && !tie {
				t.Fatalf("percentile %v of %d parts is %v, VPA %v", p, len(parts), got, want)
			}
			if !tie {
				compared++
			}
		}
	}
	if compared < 5000 {
		t.Fatalf("only %d percentiles without ties", compared)
	}
}
