package samples

import (
	"fmt"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// flood returns samples of one node, each with a different key.
func flood(machine, source string, n int) []sample.Sample {
	all := make([]sample.Sample, n)
	for i := range all {
		all[i] = measured(machine, 10, by(fmt.Sprint("made-up-", i)), func(s *sample.Sample) { s.Source = source })
	}
	return all
}

func TestAgents(t *testing.T) {
	t.Run("one node cannot fill a shard with made-up names", oneNodeCannotFillAShardWithMadeUpNames)
	t.Run("keeps the newest of too many keys of a node", keepsTheNewestOfTooManyKeysOfANode)
}

func oneNodeCannotFillAShardWithMadeUpNames(t *testing.T) {
	l := Limits{Bytes: 3800}
	var honest []sample.Sample
	for node := range 10 {
		for kernel := range 4 {
			honest = append(honest, measured(fmt.Sprint("node-", node), node, by(fmt.Sprint("kernel-", kernel))))
		}
	}
	machines := func(c content) map[string]bool {
		found := map[string]bool{}
		for _, r := range c["n4"].rows {
			if r.Benchmark == "kernel-0" {
				found[r.Machine] = true
			}
		}
		return found
	}
	c, _ := merged(t, nil, l, honest...)
	if got := machines(c); len(got) != 10 {
		t.Fatalf("%d of 10 machines are kept before the flood", len(got))
	}
	c, outcomes := merged(t, c, l, flood("bad", sample.SourceAgent, 1000)...)
	kept := 0
	for _, o := range outcomes {
		if o == Stored {
			kept++
		}
	}
	if got := machines(c); kept > keysPerAgent || len(got) < 3 {
		t.Errorf("%d samples of the bad node are kept, and %d of 10 machines", kept, len(got))
	}
	if c, _ := merged(t, nil, Limits{}, flood("row", "published", 1000)...); c.count() != 1000 {
		t.Errorf("%d of 1000 published samples are kept", c.count())
	}
}

func keepsTheNewestOfTooManyKeysOfANode(t *testing.T) {
	old := measured("m", 0, by("old"))
	c, _ := merged(t, nil, Limits{}, append(flood("m", sample.SourceAgent, keysPerAgent-1), old)...)
	if c.count() != keysPerAgent {
		t.Fatalf("%d are kept", c.count())
	}
	c, _ = merged(t, c, Limits{}, measured("m", 11, by("new")))
	for _, r := range c["n4"].rows {
		if r.Benchmark == "old" {
			t.Error("the oldest key is kept")
		}
	}
	if c.count() != keysPerAgent {
		t.Errorf("%d are kept", c.count())
	}
}

func TestManyKeysAreBoundedSoon(t *testing.T) {
	const n = 200_000
	rows := make([]row, n)
	for i := range rows {
		s := measured("row", 0, func(s *sample.Sample) { s.Benchmark, s.Source = fmt.Sprint("b", i), "published" })
		rows[i] = row{s}
	}
	began := time.Now()
	kept := 0
	for _, g := range (Limits{}).bound(rows, began) {
		kept += len(g.rows)
	}
	// A linear search for the largest group on every step took minutes.
	if took := time.Since(began); kept == 0 || kept == n || took > 20*time.Second {
		t.Errorf("%d of %d are kept after %s", kept, n, took)
	}
}
