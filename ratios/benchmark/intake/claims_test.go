package intake

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
)

// desk grants claims of a fleet of equal nodes.
type desk struct {
	claims
	samples  []sample.Sample
	revision int64
	now      time.Time
}

func newDesk() *desk { return &desk{now: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)} }

const wantedNodes = 3

func of(node string) Claim {
	return Claim{Node: node, NodeType: "n4", CPUModel: "Intel-6-207", VCPUs: 8, Version: "1-go1.26"}
}

func (d *desk) claim(c Claim) Standing {
	return d.claims.claim(c, wantedNodes, d.samples, d.revision, d.now, false)
}

// measure stores a sample of the agent on a node.
func (d *desk) measure(node string, change func(*sample.Sample)) {
	s := sample.Sample{NodeType: "n4", CPUModel: "Intel-6-207", VCPUs: 8, Version: "1-go1.26", Machine: node, Source: sample.SourceAgent, Time: d.now}
	if change != nil {
		change(&s)
	}
	d.samples = append(d.samples, s)
	d.revision++
}

func (d *desk) expect(t *testing.T, c Claim, granted bool, machines int) {
	t.Helper()
	if got := d.claim(c); got != (Standing{granted, machines, wantedNodes}) {
		t.Errorf("%+v: got %+v, want %t with %d machines", c, got, granted, machines)
	}
}

func TestClaims(t *testing.T) {
	t.Run("end once 20 machines of each of 300 models and sizes are stored", endOnceAllAreStored)
	t.Run("grants as many claims as are needed, again to those that have one", func(t *testing.T) {
		d := newDesk()
		for n := range wantedNodes {
			d.expect(t, of(fmt.Sprint("n4-", n)), true, n)
		}
		d.expect(t, of("late"), false, wantedNodes)
		d.expect(t, of("n4-0"), true, wantedNodes-1)
	})
	t.Run("counts nodes of each type, model, size and version separately", func(t *testing.T) {
		d := newDesk()
		for n := range wantedNodes {
			d.claim(of(fmt.Sprint("n4-", n)))
		}
		for _, change := range []func(*Claim){
			func(c *Claim) { c.NodeType = "c3" }, func(c *Claim) { c.CPUModel = "Intel-6-143" },
			func(c *Claim) { c.VCPUs = 16 }, func(c *Claim) { c.Version = "1-go1.27" },
		} {
			c := of("other")
			change(&c)
			d.expect(t, c, true, 0)
		}
		d.expect(t, of("other"), false, wantedNodes)
	})
	t.Run("counts a measured node once, and forgets a claim without a measurement", func(t *testing.T) {
		d := newDesk()
		d.claim(of("a"))
		d.claim(of("b"))
		d.measure("a", nil)
		d.expect(t, of("c"), true, 2)
		d.now = d.now.Add(claimTime)
		d.expect(t, of("d"), true, 1)
		d.expect(t, of("e"), true, 2)
		if len(d.granted) != 2 {
			t.Errorf("%d claims are kept, want 2", len(d.granted))
		}
	})
	t.Run("measures again after 30 days, first of all the node that asks", func(t *testing.T) {
		d := newDesk()
		for n := range wantedNodes {
			d.measure(fmt.Sprint("n4-", n), nil)
		}
		d.now = d.now.Add(measuredTime - time.Second)
		d.expect(t, of("new"), false, wantedNodes)
		d.expect(t, of("n4-0"), true, wantedNodes-1)
		d.now = d.now.Add(time.Second)
		d.expect(t, of("new"), true, 1)
	})
	t.Run("counts only full runs of agents", func(t *testing.T) {
		d := newDesk()
		d.measure("spot", func(s *sample.Sample) { s.Spot = true })
		d.measure("published", func(s *sample.Sample) { s.Source = "import" })
		d.measure("full", nil)
		d.expect(t, of("new"), true, 1)
	})
	t.Run("keeps one claim of a node, its last", func(t *testing.T) {
		d := newDesk()
		for n := range 1000 {
			c := of("bad")
			c.CPUModel, c.VCPUs, c.Version = fmt.Sprint("made-up-", n), 1+n, fmt.Sprint(n)
			d.expect(t, c, true, 0)
		}
		d.expect(t, of("bad"), true, 0)
		if len(d.granted) != 1 {
			t.Errorf("%d claims of one node are kept", len(d.granted))
		}
		d.expect(t, of("good"), true, 1)
	})
	t.Run("a preview claims nothing", func(t *testing.T) {
		d := newDesk()
		for range 2 {
			if got := d.claims.claim(of("a"), 1, nil, 0, d.now, true); !got.Granted {
				t.Errorf("got %+v", got)
			}
		}
		if len(d.granted) != 0 {
			t.Error("the claim was kept")
		}
	})
}

func endOnceAllAreStored(t *testing.T) {
	const kinds, nodes = 300, 20
	d := newDesk()
	store := samples.New(samples.Config{ReadOnly: true, Clock: clocktesting.NewFakeClock(d.now), OnReject: func(*corev1.ConfigMap, error) {}})
	of := func(kind, node int) Claim {
		return Claim{Node: fmt.Sprintf("pool-%d-%05x", kind, kind*7919+node), NodeType: "n4", CPUModel: fmt.Sprint("Intel-6-", kind%30), VCPUs: 2 + kind/30, Version: "2-go1.26"}
	}
	var all []sample.Sample
	for kind := range kinds {
		for node := range nodes {
			c := of(kind, node)
			for _, kernel := range []string{"json", "flate", "regexp", "sort", "memory-latency", "memory-bandwidth"} {
				all = append(all, sample.Sample{
					ID: c.Node + "/" + kernel, NodeType: c.NodeType, CPUModel: c.CPUModel, Benchmark: sample.AgentPrefix + kernel, Version: c.Version,
					Score: 1000 * (1 + float64(len(all)%997)/1e4), VCPUs: c.VCPUs, Threads: c.VCPUs, Machine: c.Node, Source: sample.SourceAgent, Time: d.now,
				})
			}
		}
	}
	if _, err := store.Add(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	kept, revision := store.All()
	for kind := range kinds {
		for _, node := range []int{nodes, nodes + 1} {
			if got := d.claims.claim(of(kind, node), nodes, kept, revision, d.now, false); got.Granted || got.Machines != nodes {
				t.Fatalf("kind %d: got %+v", kind, got)
			}
		}
	}
}
