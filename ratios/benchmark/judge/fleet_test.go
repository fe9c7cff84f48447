package judge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Each node is measured again after fullRun, as the node agent does.
const (
	fleetTypes = 20
	fleetNodes = 20
	fleetDays  = 90
	fullRun    = 30
	// Nodes were started in groups, groupDays apart.
	groupSize, groupDays = 4, 6
	// Standard deviations: of machines, of runs, and of the kernels of types whose kernels
	// agree, or do not.
	machineNoise = 0.02
	runNoise     = 0.005
	agreeing     = 0.003
	disagreeing  = 0.1
)

// recordedRun returns the samples of a real run of the node agent, without spot checks.
func recordedRun(t *testing.T) []sample.Sample {
	t.Helper()
	file, err := os.Open("../../../test/e2e/testdata/bench-node.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var all []sample.Sample
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var s sample.Sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if !s.Spot && !strings.Contains(s.Benchmark, "sha256") {
			all = append(all, s)
		}
	}
	return all
}

// fleetType is a node type with its true speed.
type fleetType struct {
	name     string
	speed    float64
	kernels  map[string]float64
	machines []float64
}

// drawFleet draws node types from 0.7 to 1.6 times as fast as the first, the baseline. Kernels agree
// for every second type.
func drawFleet(random *rand.Rand, recorded []sample.Sample) []fleetType {
	types := make([]fleetType, fleetTypes)
	for i := range types {
		f := fleetType{name: fmt.Sprintf("t%02d", i), speed: 0.7 + 0.9*float64(i)/fleetTypes, kernels: map[string]float64{}}
		spread := agreeing
		switch {
		case i == 0:
			f.name, f.speed, spread = "n2d", 1, 0
		case i%2 == 1:
			spread = disagreeing
		}
		for _, s := range recorded {
			f.kernels[s.Benchmark] = math.Exp(spread * random.NormFloat64())
		}
		for range fleetNodes {
			f.machines = append(f.machines, math.Exp(machineNoise*random.NormFloat64()))
		}
		types[i] = f
	}
	return types
}

// fleet runs 20 node types with 20 nodes each for 90 days. Ratios of types whose kernels agree are
// applied in steps, and then stay; the others never move.
func fleet(t *testing.T, s *stored) {
	s.set(t, "mode: apply")
	r := s.run(t, clocktesting.NewFakeClock(began), benchmark.Config{})
	random := rand.New(rand.NewPCG(1, 2))
	recorded := recordedRun(t)
	types := drawFleet(random, recorded)
	way := map[string][]float64{}
	for day := range fleetDays {
		var today []sample.Sample
		for _, f := range types {
			for n, machine := range f.machines {
				if day != 0 && day%fullRun != n/groupSize*groupDays {
					continue
				}
				for _, x := range recorded {
					noise := math.Exp(runNoise * random.NormFloat64())
					x.Score *= f.speed * machine * f.kernels[x.Benchmark] * noise
					x.NodeType, x.InstanceType, x.Machine, x.Time, x.Source = f.name, "", fmt.Sprintf("%s-%d", f.name, n), r.clock.Now(), sample.SourceAgent
					x.ID = fmt.Sprintf("%s/%s/%d", x.Benchmark, x.Machine, day)
					today = append(today, x)
				}
			}
		}
		if len(today) > 0 {
			if _, err := r.in.Add(t.Context(), today); err != nil {
				t.Fatal(err)
			}
		}
		// Later days only judge a few windows: a missed window moves nothing.
		windows := 24
		if day > 2 {
			windows = 2
		}
		for range windows {
			r.hours(t, 1)
			for _, f := range types {
				way[f.name] = append(way[f.name], r.ratio(f.name))
			}
		}
		r.clock.Step(time.Duration(24-windows) * time.Hour)
	}
	for i, f := range types[1:] {
		changes, turns, last := 0, 0, 0.0
		for j, ratio := range way[f.name] {
			before := 1.0 // Without a ratio of any source.
			if j > 0 && way[f.name][j-1] > 0 {
				before = way[f.name][j-1]
			}
			now := ratio
			if now == 0 {
				now = 1
			}
			step := math.Log(now / before)
			if math.Abs(step) < 1e-9 {
				continue
			}
			changes++
			if step*last < 0 {
				turns++
			}
			if math.Abs(step) > math.Log(1.1)+1e-5 {
				t.Errorf("%s: a step from %v to %v", f.name, before, now)
			}
			last = step
		}
		got, agree := way[f.name][len(way[f.name])-1], i%2 == 1
		t.Logf("%s: true %.3f, applied %.3f in %d steps", f.name, f.speed, got, changes)
		switch {
		case turns > 0 || changes > 8:
			t.Errorf("%s changed %d times and turned %d times: %v", f.name, changes, turns, way[f.name])
		case !agree && got != 0:
			t.Errorf("%s has %v, although its kernels disagree", f.name, got)
		case agree && math.Abs(f.speed-1) > 0.06 && math.Abs(got/f.speed-1) > 0.03:
			t.Errorf("%s has %v, its speed is %v", f.name, got, f.speed)
		}
	}
}
