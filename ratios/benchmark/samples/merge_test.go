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

// measured is a sample of a machine, that many hours after the beginning; its id
// is its machine and that.
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

// at gives a sample another time, and leaves its id.
func at(hours int) func(*sample.Sample) {
	return func(s *sample.Sample) { s.Time = began.Add(time.Duration(hours) * time.Hour) }
}

func encoded(t testing.TB, all ...sample.Sample) []row {
	t.Helper()
	var rows []row
	for _, s := range all {
		r, err := encode(normal(s))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// merged merges into content, and reads the result again; nil if there is nothing
// to write.
func merged(t testing.TB, c content, l Limits, add ...sample.Sample) (content, []Outcome) {
	t.Helper()
	data, outcomes := merge(c, encoded(t, add...), l, began.Add(1000*time.Hour))
	if data == nil {
		return nil, outcomes
	}
	next := content{}
	for nodeType, text := range data {
		e, faults := parseEntry(nodeType, text, c[nodeType])
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
		// want are the ids that are written, nil if nothing is.
		want []string
	}{
		{"what is new is kept, the newest first", Limits{}, nil, all{measured("a", 1), measured("b", 2)}, []Outcome{Stored, Stored}, []string{"b-2", "a-1"}},
		{"what is known is not written again", Limits{}, all{measured("a", 1)}, all{measured("a", 1)}, []Outcome{Known}, nil},
		{"twice in one call is once", Limits{}, nil, all{measured("a", 1), measured("a", 1)}, []Outcome{Stored, Known}, []string{"a-1"}},
		{"an id is that of one sample", Limits{}, all{measured("a", 1)}, all{measured("a", 1, func(s *sample.Sample) { s.Score = 1 })}, []Outcome{Conflict}, nil},
		{"an id is that of one sample of a call, too", Limits{}, nil, all{measured("a", 1), measured("a", 1, spot)}, []Outcome{Stored, Conflict}, []string{"a-1"}},
		{"an id is one among those of a node type", Limits{}, all{measured("a", 1)}, all{measured("a", 1, of("c3"))}, []Outcome{Stored}, []string{"a-1", "a-1"}},
		{"another source of the same is no conflict", Limits{}, all{measured("a", 1)}, all{measured("a", 1, func(s *sample.Sample) { s.Source = "import" })}, []Outcome{Known}, nil},
		{"what is read again has its old time for a day", Limits{}, all{measured("a", 1)}, all{measured("a", 1, at(25))}, []Outcome{Known}, nil},
		{"what is read again later has its new time", Limits{}, all{measured("a", 1), measured("b", 2)}, all{measured("a", 1, at(26))}, []Outcome{Known}, []string{"a-1", "b-2"}},
		{"what is known as newer keeps that time", Limits{}, all{measured("a", 1, at(99))}, all{measured("a", 1)}, []Outcome{Known}, nil},
		{"of a key the newest are kept", Limits{PerKey: 2}, all{measured("a", 1), measured("b", 2)}, all{measured("c", 3)}, []Outcome{Stored}, []string{"c-3", "b-2"}},
		{"older ones are not written", Limits{PerKey: 2}, all{measured("b", 2), measured("c", 3)}, all{measured("a", 1)}, []Outcome{Old}, nil},
		{"twice in one call is old twice", Limits{PerKey: 1}, all{measured("b", 2)}, all{measured("a", 1), measured("a", 1)}, []Outcome{Old, Old}, nil},
		{"a machine that is measured often does not displace others", Limits{PerKey: 2}, all{measured("a", 1), measured("b", 2)}, all{measured("b", 3), measured("b", 4)}, []Outcome{Old, Stored}, []string{"b-4", "a-1"}},
		{"where there is room a machine has several", Limits{PerKey: 3}, all{measured("a", 1), measured("b", 2)}, all{measured("b", 3), measured("b", 4)}, []Outcome{Stored, Stored}, []string{"b-4", "b-3", "a-1"}},
		{"spot checks are counted apart", Limits{PerKey: 1}, all{measured("a", 1)}, all{measured("a", 2, spot)}, []Outcome{Stored}, []string{"a-1", "a-2"}},
		{"versions are counted apart", Limits{PerKey: 1}, all{measured("a", 1)}, all{measured("a", 2, func(s *sample.Sample) { s.Version = "2" })}, []Outcome{Stored}, []string{"a-1", "a-2"}},
		{"CPU models are counted apart", Limits{PerKey: 1}, all{measured("a", 1)}, all{measured("a", 2, func(s *sample.Sample) { s.CPUModel = "Intel-6-79" })}, []Outcome{Stored}, []string{"a-1", "a-2"}},
		{"what is too old is not taken", Limits{MaxAge: 998 * time.Hour}, nil, all{measured("a", 1), measured("b", 2)}, []Outcome{Old, Stored}, []string{"b-2"}},
		{"what has become too old goes with the next write", Limits{MaxAge: 998 * time.Hour}, all{measured("a", 1)}, all{measured("b", 2)}, []Outcome{Stored}, []string{"b-2"}},
		{"what has become too old causes no write", Limits{MaxAge: 998 * time.Hour}, all{measured("a", 1), measured("b", 2)}, all{measured("b", 2)}, []Outcome{Known}, nil},
		{"where bytes are short the largest key has fewer", Limits{Bytes: 850}, all{measured("a", 1), measured("b", 2, by("x"))}, all{measured("c", 3), measured("d", 4)}, []Outcome{Stored, Stored}, []string{"d-4", "c-3", "b-2x"}},
		{"what has no place among the bytes is old", Limits{Bytes: 600}, all{measured("c", 3), measured("d", 4)}, all{measured("a", 1)}, []Outcome{Old}, nil},
		{"nothing is added by nothing", Limits{}, all{measured("a", 1)}, nil, []Outcome{}, nil},
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
	t.Run("what is added again is not written for ever", whatIsAddedAgainIsNotWrittenForEver)
	t.Run("the limit of bytes holds for anything", theLimitOfBytesHoldsForAnything)
}

// Feeds are read again and again, all at once or in parts: that must come to rest.
func whatIsAddedAgainIsNotWrittenForEver(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var feed []sample.Sample
	for i := range 200 {
		feed = append(feed, measured(fmt.Sprint("m", i%20), i, by(fmt.Sprint("kernel", i%3)), of(fmt.Sprint("type", i%2)), func(s *sample.Sample) {
			s.Unit = strings.Repeat("x", random.IntN(60))
		}))
	}
	for _, l := range []Limits{{}, {PerKey: 7}, {Bytes: 9000}, {Bytes: 15000}, {PerKey: 20, Bytes: 20000}, {MaxAge: 900 * time.Hour}} {
		kept, _ := merged(t, nil, l, feed...)
		if again, _ := merged(t, kept, l, feed...); again != nil {
			t.Errorf("%+v: the whole is written again", l)
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
				t.Errorf("%+v: parts of %d are written %d times the fourth time", l, size, writes)
			}
		}
	}
}

// Names and texts are as long as they may be, and escaped in JSON.
func theLimitOfBytesHoldsForAnything(t *testing.T) {
	var rows []sample.Sample
	for i := range 3000 {
		rows = append(rows, measured(fmt.Sprint(i), i%100, of(fmt.Sprintf("%s%04d", strings.Repeat("n", 59), i)), func(s *sample.Sample) {
			s.Unit = strings.Repeat("<", 64)
		}))
	}
	data, _ := merge(nil, encoded(t, rows...), Limits{Bytes: 8 << 20}, began.Add(200*time.Hour))
	size := 0
	for nodeType, text := range data {
		size += len(nodeType) + len(text)
	}
	if size > 1<<20 || size < 512<<10 {
		t.Errorf("%d bytes", size)
	}
}
