package samples

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// packedOf returns a line with samples.
func packedOf(t testing.TB, all ...sample.Sample) string {
	t.Helper()
	line, _, err := (&packer{}).pack(rowsOf(all...))
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// deflated returns a line with any text.
func deflated(t testing.TB, text string) string {
	t.Helper()
	var compressed bytes.Buffer
	w, err := flate.NewWriter(&compressed, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed + base64.StdEncoding.EncodeToString(compressed.Bytes())
}

func TestPack(t *testing.T) {
	t.Run("what is packed is read back", whatIsPackedIsReadBack)
	t.Run("reports what is wrong with a line", reportsWhatIsWrongWithALine)
	t.Run("a fault is brief", aFaultIsBrief)
}

func TestManySamplesArePacked(t *testing.T) {
	t.Run("a full ConfigMap is read", aFullConfigMapIsRead)
	t.Run("fleets take few bytes", fleetsTakeFewBytes)
	t.Run("samples that are large unpacked are read back", largeSamplesAreReadBack)
}

func whatIsPackedIsReadBack(t *testing.T) {
	full := measured("a", 1, func(s *sample.Sample) {
		s.InstanceType, s.ThreadsPerCore, s.SingleThread, s.Runs, s.OtherLoad = "n4-standard-8", 2, 200.125, 7, 0.25
	})
	want := []sample.Sample{
		full, measured("a", 1, by("x")), measured("a", 2), measured("a", 1, spot, by("y")),
		measured("b", 1, func(s *sample.Sample) { s.ID = "ü-b-bench-node:sha256" }),
		measured("sha256", 1, func(s *sample.Sample) { s.ID = "sha256/sha256/2026-11-21T02:02:03" }),
		measured("old", 1, func(s *sample.Sample) { s.Time = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC) }),
		measured("p", 3, func(s *sample.Sample) { s.Source, s.CPUModel, s.Unit = "feed", "", `"<>` }),
	}
	c, err := parserOf("n4").parse(map[string]string{"n4": packedOf(t, want...)})
	if err != nil {
		t.Fatal(err)
	}
	got := c["n4"]
	if len(got.rows) != len(want) || !got.packed {
		t.Errorf("%d samples, packed: %t", len(got.rows), got.packed)
	}
	for _, s := range want {
		if !slices.Contains(got.rows, row{s}) {
			t.Errorf("%+v is lost", s)
		}
	}
	if c, err := parserOf("n4").parse(map[string]string{"n4": packedOf(t, measured("b", 1)) + "\n" + line + "\n"}); err != nil || len(c["n4"].rows) != 2 || c["n4"].packed {
		t.Errorf("with a line that a person added: %v, %v", c, err)
	}
}

func reportsWhatIsWrongWithALine(t *testing.T) {
	good := packedOf(t, measured("a", 1), measured("b", 1))
	for _, tc := range []struct{ name, line, want string }{
		{"not base64", packed + "%", "line 1: read base64: "},
		{"truncated", good[:len(good)-8], "line 1: decompress samples: "},
		{"not JSON", deflated(t, "what"), "line 1: read samples as JSON: "},
		{"a column of a later release", deflated(t, `{"kinds":[],"temperature":[]}`), `line 1: read samples as JSON: json: unknown field "temperature"`},
		{"columns of different lengths", deflated(t, `{"kinds":[{}],"kind":[0]}`), "line 1: the columns differ in length"},
		{"a kind that does not exist", deflated(t, `{"kind":[1],"machine":[""],"id":[""],"time":[0],"score":[1],"singleThread":[0],"runs":[0],"otherLoad":[0]}`), "line 1: sample 1: kind 1 does not exist"},
		{"an invalid sample", packedOf(t, measured("a", 1), measured("b", 1, func(s *sample.Sample) { s.Score = -1 })), "line 1, sample 2: score must be a number above 0"},
		{"a duplicate ID", good + "\n" + packedOf(t, measured("a", 1)), `line 2: duplicate id "a-1"`},
		{"too much", deflated(t, strings.Repeat(" ", maxUnpacked+1)), "line 1: decompress samples: they have more than 32 MiB"},
		{"too much in several lines", strings.Repeat(deflated(t, "{}"+strings.Repeat(" ", maxUnpacked/2))+"\n", 2), "line 2: decompress samples: they have more than 32 MiB"},
		{"too many kinds", deflated(t, `{"kinds":[`+strings.Repeat("{},", maxSamples)+`{}]}`), "line 1: read samples as JSON: a column has more than 64000 elements"},
		{"too many samples in several lines", line + "\n" + manyOf(t, maxSamples), "line 2: the ConfigMap has more than 64000 samples"},
		{"an ID that grows", manyIDs(t, strings.Repeat(`\u0001`, 1000), strings.Repeat("a", 1000), "b"), "line 1: sample 1: the ID has 1000000 bytes, the maximum is 128"},
		{"an ID that grows with its benchmark", manyIDs(t, strings.Repeat(`\u0002`, 1000), "a", strings.Repeat("b", 1000)), "line 1: sample 1: the ID has 1000000 bytes, the maximum is 128"},
		{"a column that is no list", deflated(t, `{"kind":{"a":1}}`), "line 1: read samples as JSON: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parserOf("n4").parse(map[string]string{"n4": tc.line})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// manyOf returns a line with this many samples, whose IDs are times.
func manyOf(t testing.TB, n int) string {
	t.Helper()
	column := func(first, value string) string { return "[" + first + strings.Repeat(","+value, n-1) + "]" }
	return deflated(t, `{"kinds":[{"nodeType":"n4","benchmark":"coremark","vcpus":8,"threads":8}],"kind":`+column("0", "0")+
		`,"machine":`+column(`"a"`, `""`)+`,"id":`+column(`"\u0003"`, `""`)+`,"time":`+column("1", "1")+`,"score":`+column("1", "1")+
		`,"singleThread":`+column("0", "0")+`,"runs":`+column("0", "0")+`,"otherLoad":`+column("0", "0")+`}`)
}

// manyIDs returns a line with a sample.
func manyIDs(t testing.TB, pattern, machine, benchmark string) string {
	t.Helper()
	return deflated(t, `{"kinds":[{"nodeType":"n4","benchmark":"`+benchmark+`","vcpus":8,"threads":8}],"kind":[0],"machine":["`+machine+
		`"],"id":["`+pattern+`"],"time":[1],"score":[1],"singleThread":[0],"runs":[0],"otherLoad":[0]}`)
}

func aFullConfigMapIsRead(t *testing.T) {
	p := parserOf("n4")
	for range 2 {
		if c, err := p.parse(map[string]string{"n4": manyOf(t, maxSamples)}); err != nil || c.count() != maxSamples {
			t.Fatalf("%d samples, %v", c.count(), err)
		}
	}
	if _, err := p.parse(map[string]string{"n4": p.last["n4"].text + "\n" + strings.ReplaceAll(line, "a-1", "a-2")}); err == nil {
		t.Error("one more sample is read")
	}
}

// aFaultIsBrief checks the error of a line that has the same fault in many samples, with a long value.
func aFaultIsBrief(t *testing.T) {
	bad := strings.Replace(`{"kinds":[{"nodeType":"n4","benchmark":"B"}],"kind":[0,0],"machine":["a",""],"id":["a","b"],"time":[1,1],"score":[1,1],"singleThread":[0,0],"runs":[0,0],"otherLoad":[0,0]}`,
		"B", strings.Repeat("b", 1<<20), 1)
	for name, text := range map[string]string{"sample": bad, "column": `{"` + strings.Repeat("c", 1<<20) + `":[]}`} {
		_, err := parserOf("n4").parse(map[string]string{"n4": deflated(t, text)})
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: an error of %d bytes", name, len(fmt.Sprint(err)))
		}
	}
}

const models, machines = 300, 20

// fleet returns what the agents of machines of many CPU models and sizes have sent in some months:
// full runs, and a spot check every day.
func fleet() []sample.Sample {
	random := rand.New(rand.NewPCG(1, 2))
	all6 := []string{"json", "flate", "regexp", "sort", "memory-latency", "memory-bandwidth"}
	var all []sample.Sample
	for model := range models {
		pool := random.Uint32()
		for range machines {
			node := fmt.Sprintf("gke-production-pool-%d-%08x-%05x", model%10, pool, random.IntN(1<<20))
			hash := random.Uint64()
			run := func(hours int, kernels []string, change ...func(*sample.Sample)) {
				at := began.Add(time.Duration(hours)*time.Hour + time.Duration(random.Int64N(int64(time.Hour))))
				load := float64(random.IntN(1000)) / 1000
				for _, kernel := range kernels {
					s := measured(node, hours, change...)
					s.ID = fmt.Sprintf("%s/%s/%016x/%s", node, kernel, hash, at.Format(time.RFC3339Nano))
					s.CPUModel, s.Benchmark, s.VCPUs, s.ThreadsPerCore = fmt.Sprint("Intel-6-", model%30), sample.AgentPrefix+kernel, 2+model/30, 2
					if !s.Spot {
						s.Threads = s.VCPUs
						s.SingleThread = 150 * (1 + 0.03*random.NormFloat64())
					}
					s.Score *= 1 + 0.03*random.NormFloat64()
					s.Time, s.Runs, s.OtherLoad = at, 3+random.IntN(30), load
					all = append(all, s)
				}
			}
			first := random.IntN(200)
			run(first, all6)
			run(first+720, all6)
			for day := range 3 {
				run(first+24*day, all6[:2], spot)
			}
		}
	}
	return all
}

// keeps reports an error for each group of which fewer machines are kept.
func keeps(t testing.TB, all []sample.Sample) {
	t.Helper()
	kept := map[key]map[string]bool{}
	for _, s := range all {
		k := (&row{s}).key()
		if s.Spot {
			continue
		}
		if kept[k] == nil {
			kept[k] = map[string]bool{}
		}
		kept[k][s.Machine] = true
	}
	if len(kept) != 6*models {
		t.Errorf("samples of %d groups are kept, want %d", len(kept), 6*models)
	}
	few := 0
	for _, machines := range kept {
		if len(machines) < 20 {
			few++
		}
	}
	if few > 0 {
		t.Errorf("%d of %d groups have fewer than 20 machines", few, len(kept))
	}
}

func fleetsTakeFewBytes(t *testing.T) {
	began := time.Now()
	c, _ := merged(t, nil, Limits{}, fleet()...)
	took := time.Since(began)
	var all []sample.Sample
	for _, r := range c["n4"].rows {
		all = append(all, r.Sample)
	}
	keeps(t, all)
	size := len(c["n4"].text)
	t.Logf("%d samples in %d bytes, %.1f each; %s to merge and read", len(all), size, float64(size)/float64(len(all)), took)
	if size > maxBytes {
		t.Errorf("%d bytes", size)
	}
	if again, outcomes := merged(t, c, Limits{}, fleet()...); again != nil || !slices.Contains(outcomes, Known) {
		t.Error("the same samples are written again")
	}
}

// largeSamplesAreReadBack adds samples that take few bytes packed, and together more unpacked than may
// be read: for one node type, and then for another one in the same ConfigMap.
func largeSamplesAreReadBack(t *testing.T) {
	p, c := parserOf("n4"), content(nil)
	counts := map[string]int{"n4": 17_000, sibling("n4"): 5_000}
	for _, nodeType := range slices.Sorted(maps.Keys(counts)) {
		var add []sample.Sample
		for i := range counts[nodeType] {
			add = append(add, measured(fmt.Sprint(i%10), i%900, of(nodeType), by(fmt.Sprint("b", i/64)), func(s *sample.Sample) {
				s.ID, s.Unit, s.Source = fmt.Sprint(i), strings.Repeat("<", 50)+fmt.Sprint(i), "import"
				s.InstanceType, s.Version = strings.Repeat("<", 128), strings.Repeat("<", 128)
			}))
		}
		data, _, err := merge(c, rowsOf(add...), Limits{}, began.Add(1000*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.parse(data); err != nil {
			t.Fatalf("by the replica that wrote it: %v", err)
		}
		if _, err := parserOf("n4").parse(data); err != nil {
			t.Fatalf("by another replica: %v", err)
		}
	}
	if len(c) != 2 || c.count() < 10_000 {
		t.Errorf("%d samples of %d node types", c.count(), len(c))
	}
}

// sibling returns another node type whose samples are in the same ConfigMap.
func sibling(nodeType string) string {
	for i := 0; ; i++ {
		if name := fmt.Sprint("t", i); shardOf(name) == shardOf(nodeType) {
			return name
		}
	}
}

func kinds(t *testing.T, s *stored) {
	store := s.opened(t)
	for part := range slices.Chunk(fleet(), 20_000) {
		if _, err := store.Add(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	restarted := s.opened(t)
	all, _ := store.All()
	has(t, restarted, len(all))
	all, _ = restarted.All()
	keeps(t, all)
	t.Logf("%d samples in %d bytes", len(all), bytesOf(s.get(t, "n4").Data))
}

func upgraded(t *testing.T, s *stored) {
	cm := s.get(t, "n4")
	cm.Data = map[string]string{"n4": line + "\n" + strings.ReplaceAll(line, "a-1", "a-2") + "\n"}
	if _, err := s.client.CoreV1().ConfigMaps(s.namespace).Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	store := s.opened(t)
	has(t, store, 2)
	before, _ := store.All()
	added(t, store, Stored, measured("b", 2))
	if text := s.get(t, "n4").Data["n4"]; !strings.HasPrefix(text, packed) {
		t.Errorf("stored as %s", text)
	}
	restarted := s.opened(t)
	has(t, restarted, 3)
	after, _ := restarted.All()
	for _, x := range before {
		if !slices.Contains(after, x) {
			t.Errorf("%+v is lost", x)
		}
	}
}
