package samples

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

var began = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// measured returns a sample of a machine, a number of hours after the start. Its ID
// consists of the machine and that number.
func measured(machine string, hours int, change ...func(*sample.Sample)) sample.Sample {
	s := sample.Sample{
		ID: fmt.Sprintf("%s-%d", machine, hours), NodeType: "n4", CPUModel: "Intel-6-207", Benchmark: "bench-node:sha256", Version: "1",
		Score: 1234.5, Unit: "MB/s", VCPUs: 8, Threads: 8, Machine: machine, Source: "agent", Time: began.Add(time.Duration(hours) * time.Hour),
	}
	for _, c := range change {
		c(&s)
	}
	return s
}

func spot(s *sample.Sample) { s.Spot, s.Threads = true, 1 }

func of(nodeType string) func(*sample.Sample) {
	return func(s *sample.Sample) { s.NodeType = nodeType }
}

func by(benchmark string) func(*sample.Sample) {
	return func(s *sample.Sample) { s.Benchmark, s.ID = benchmark, s.ID+benchmark }
}

// at changes the time of a sample, but not its ID.
func at(hours int) func(*sample.Sample) {
	return func(s *sample.Sample) { s.Time = began.Add(time.Duration(hours) * time.Hour) }
}

func rowsOf(all ...sample.Sample) []row {
	var rows []row
	for _, s := range all {
		rows = append(rows, row{normal(s)})
	}
	return rows
}

// merged merges into content, and reads the result back; nil if there is nothing
// to write.
func merged(t testing.TB, c content, l Limits, add ...sample.Sample) (content, []Outcome) {
	t.Helper()
	data, outcomes, err := merge(c, rowsOf(add...), l, began.Add(1000*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if data == nil {
		return nil, outcomes
	}
	next := content{}
	for nodeType, text := range data {
		e, faults := parseEntry(nodeType, text, c[nodeType], &budget{maxUnpacked, maxSamples})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		next[nodeType] = e
	}
	return next, outcomes
}

func ids(c content) []string {
	var ids []string
	for _, nodeType := range slices.Sorted(maps.Keys(c)) {
		for _, r := range c[nodeType].rows {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func TestMerge(t *testing.T) {
	type all = []sample.Sample
	for _, tc := range []struct {
		name        string
		limits      Limits
		before, add all
		outcomes    []Outcome
		// want are the IDs that are written; nil if nothing is written.
		want []string
	}{
		{"new samples are stored, the newest first", Limits{}, nil, all{measured("a", 1), measured("b", 2)}, []Outcome{Stored, Stored}, []string{"b-2", "a-1"}},
		{"known samples are not written again", Limits{}, all{measured("a", 1)}, all{measured("a", 1)}, []Outcome{Known}, nil},
		{"duplicates in one call are stored once", Limits{}, nil, all{measured("a", 1), measured("a", 1)}, []Outcome{Stored, Known}, []string{"a-1"}},
		{"an ID identifies one sample", Limits{}, all{measured("a", 1)}, all{measured("a", 1, func(s *sample.Sample) { s.Score = 1 })}, []Outcome{Conflict}, nil},
		{"an ID identifies one sample within a call, too", Limits{}, nil, all{measured("a", 1), measured("a", 1, spot)}, []Outcome{Stored, Conflict}, []string{"a-1"}},
		{"an ID is unique within a node type", Limits{}, all{measured("a", 1)}, all{measured("a", 1, of("c3"))}, []Outcome{Stored}, []string{"a-1", "a-1"}},
		{"the same sample from another source is not a conflict", Limits{}, all{measured("a", 1)}, all{measured("a", 1, func(s *sample.Sample) { s.Source = "import" })}, []Outcome{Known}, nil},
		{"a sample that is read again keeps its time for a day", Limits{}, all{measured("a", 1)}, all{measured("a", 1, at(25))}, []Outcome{Known}, nil},
		{"a sample that is read again later gets the new time", Limits{}, all{measured("a", 1), measured("b", 2)}, all{measured("a", 1, at(26))}, []Outcome{Known}, []string{"a-1", "b-2"}},
		{"a known sample with a newer time keeps it", Limits{}, all{measured("a", 1, at(99))}, all{measured("a", 1)}, []Outcome{Known}, nil},
		{"the newest samples of a key are kept", Limits{PerKey: 2}, all{measured("a", 1), measured("b", 2)}, all{measured("c", 3)}, []Outcome{Stored}, []string{"c-3", "b-2"}},
		{"older samples are not written", Limits{PerKey: 2}, all{measured("b", 2), measured("c", 3)}, all{measured("a", 1)}, []Outcome{Old}, nil},
		{"old duplicates in one call are both old", Limits{PerKey: 1}, all{measured("b", 2)}, all{measured("a", 1), measured("a", 1)}, []Outcome{Old, Old}, nil},
		{"a machine that is measured often does not displace others", Limits{PerKey: 2}, all{measured("a", 1), measured("b", 2)}, all{measured("b", 3), measured("b", 4)}, []Outcome{Old, Stored}, []string{"b-4", "a-1"}},
		{"a machine has several samples if there is room", Limits{PerKey: 3}, all{measured("a", 1), measured("b", 2)}, all{measured("b", 3), measured("b", 4)}, []Outcome{Stored, Stored}, []string{"b-4", "b-3", "a-1"}},
		{"spot checks count separately", Limits{PerKey: 1}, all{measured("a", 1)}, all{measured("a", 2, spot)}, []Outcome{Stored}, []string{"a-1", "a-2"}},
		{"versions count separately", Limits{PerKey: 1}, all{measured("a", 1)}, all{measured("a", 2, func(s *sample.Sample) { s.Version = "2" })}, []Outcome{Stored}, []string{"a-1", "a-2"}},
		{"CPU models count separately", Limits{PerKey: 1}, all{measured("a", 1)}, all{measured("a", 2, func(s *sample.Sample) { s.CPUModel = "Intel-6-79" })}, []Outcome{Stored}, []string{"a-1", "a-2"}},
		{"expired samples are not stored", Limits{MaxAge: 998 * time.Hour}, nil, all{measured("a", 1), measured("b", 2)}, []Outcome{Old, Stored}, []string{"b-2"}},
		{"stored samples that expire are removed with the next write", Limits{MaxAge: 998 * time.Hour}, all{measured("a", 1)}, all{measured("b", 2)}, []Outcome{Stored}, []string{"b-2"}},
		{"stored samples that expire do not cause a write", Limits{MaxAge: 998 * time.Hour}, all{measured("a", 1), measured("b", 2)}, all{measured("b", 2)}, []Outcome{Known}, nil},
		{"the largest key is reduced if bytes are short", Limits{Bytes: 125}, all{measured("a", 1), measured("b", 2, by("x"))}, all{measured("c", 3), measured("d", 4)}, []Outcome{Stored, Stored}, []string{"d-4", "c-3", "b-2x"}},
		{"a sample that does not fit is old", Limits{Bytes: 75}, all{measured("c", 3), measured("d", 4)}, all{measured("a", 1)}, []Outcome{Old}, nil},
		{"adding nothing changes nothing", Limits{}, all{measured("a", 1)}, nil, []Outcome{}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before, _ := merged(t, nil, Limits{}, tc.before...)
			after, outcomes := merged(t, before, tc.limits, tc.add...)
			if diff := cmp.Diff(tc.outcomes, outcomes); diff != "" {
				t.Error("outcomes:", diff)
			}
			if diff := cmp.Diff(tc.want, ids(after)); diff != "" {
				t.Error("kept:", diff)
			}
		})
	}
}

func TestMergeRules(t *testing.T) {
	t.Run("samples that are added again become stable", samplesThatAreAddedAgainBecomeStable)
	t.Run("enforces the limit of bytes for any content", enforcesTheLimitOfBytesForAnyContent)
}

// Feeds are read repeatedly, as a whole or in parts. This must become stable.
func samplesThatAreAddedAgainBecomeStable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var feed []sample.Sample
	for i := range 200 {
		feed = append(feed, measured(fmt.Sprint("m", i%20), i, by(fmt.Sprint("kernel", i%3)), of(fmt.Sprint("type", i%2)), func(s *sample.Sample) {
			s.Unit = strings.Repeat("x", random.IntN(60))
		}))
	}
	for _, l := range []Limits{{}, {PerKey: 7}, {Bytes: 1500}, {Bytes: 2400}, {PerKey: 20, Bytes: 1800}, {MaxAge: 900 * time.Hour}} {
		kept, _ := merged(t, nil, l, feed...)
		if again, _ := merged(t, kept, l, feed...); again != nil {
			t.Errorf("%+v: the whole feed is written again", l)
		}
		for _, size := range []int{1, 7, 50} {
			writes, now := 0, kept
			for range 4 {
				writes = 0
				for part := range slices.Chunk(feed, size) {
					if next, _ := merged(t, now, l, part...); next != nil {
						now = next
						writes++
					}
				}
			}
			if writes > 0 {
				t.Errorf("%+v: parts of %d cause %d writes in the fourth round", l, size, writes)
			}
		}
	}
}

// Names and texts have their maximum length and are escaped in JSON.
func enforcesTheLimitOfBytesForAnyContent(t *testing.T) {
	var rows []sample.Sample
	for i := range 3000 {
		rows = append(rows, measured(fmt.Sprint(i), i%100, of(fmt.Sprintf("%s%04d", strings.Repeat("n", 59), i)), func(s *sample.Sample) {
			s.Unit = strings.Repeat("<", 64)
		}))
	}
	data, _, err := merge(nil, rowsOf(rows...), Limits{Bytes: 8 << 20}, began.Add(200*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if size := bytesOf(data); size > 1<<20 || size < 512<<10 {
		t.Errorf("%d bytes", size)
	}
}
