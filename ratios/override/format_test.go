package override

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// busy returns a content with these numbers of changes and overrides.
func busy(changes, overrides int) content {
	c := content{overrides: map[string]Override{}}
	from := ratios.Provenance{Source: Source, UpdateTime: began, Author: "ann", Reason: "as measured"}
	for n := range overrides {
		c.overrides[fmt.Sprintf("type-%d", n)] = Override{Ratio: ratios.Ratio{CPUPerf: 1 + float64(n)/100, MemoryPerf: 1, Provenance: from, ExpireTime: began.Add(time.Hour)}}
	}
	for n := range changes {
		c.changes = append(c.changes, Change{
			Number: int64(n + 1), Time: began, Author: "ann", Reason: strings.Repeat("x", 200),
			Deltas: []Delta{{"n4", &Value{CPUPerf: 1, MemoryPerf: 1, ExpireTime: began}, &Value{CPUPerf: 1.25, MemoryPerf: 1}}},
		})
	}
	return c
}

func TestFormat(t *testing.T) {
	t.Run("reads back what it writes", readsBackWhatItWrites)
	t.Run("limits the history", limitsTheHistory)
	t.Run("reports faults with their paths", reportsFaultsWithTheirPaths)
	t.Run("an etag identifies one state", anEtagIdentifiesOneState)
}

func readsBackWhatItWrites(t *testing.T) {
	to := int64(0)
	c := content{
		overrides: permanent(map[string]ratios.Ratio{
			"n4":            {CPUPerf: 1.3, MemoryPerf: 1e-7, Provenance: ratios.Provenance{Source: Source, UpdateTime: began, Author: "größer: - 'x' \"y\" #z", CredentialID: "JTI=1", Reason: "<&>"}, ExpireTime: began},
			"1e3":           {CPUPerf: 1e21, MemoryPerf: 3, Provenance: ratios.Provenance{Source: Source}},
			"e2@Intel-6-79": {CPUPerf: 0.5, MemoryPerf: 1, Provenance: ratios.Provenance{Source: Source}},
			"yes":           {CPUPerf: 0.1, MemoryPerf: 3, Provenance: ratios.Provenance{Source: Source}},
		}),
		changes: []Change{
			{Number: 7, Time: began, Author: "größer: - 'x' \"y\" #z", CredentialID: "JTI=1", Reason: "<&>", Deltas: []Delta{{"1e3", nil, &Value{CPUPerf: 1e21, MemoryPerf: 1e-7, ExpireTime: began, Fallback: &Value{CPUPerf: 3, MemoryPerf: 4}}}, {"e2@Intel-6-79", nil, &Value{CPUPerf: 0.5, MemoryPerf: 1}}, {"n4", &Value{CPUPerf: 1, MemoryPerf: 1}, nil}}},
			{Number: 8, Time: began, Deltas: []Delta{{"n4", nil, nil}}, RollbackTo: &to, RequestID: "1-2", RequestDigest: "12"},
			{Number: 9, Time: began, Deltas: []Delta{{"n4", nil, nil}}, Expiry: true},
		},
	}
	c.overrides["n4"] = Override{c.overrides["n4"].Ratio, &ratios.Ratio{CPUPerf: 2, MemoryPerf: 1, Provenance: ratios.Provenance{Source: Source, Author: "bob", UpdateTime: began}}}
	data, err := readable(c)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(data[Key], preamble) || strings.Count(data[HistoryKey], "\n- ") != 3 {
		t.Errorf("written as\n%s\n%s", data[Key], data[HistoryKey])
	}
}

func limitsTheHistory(t *testing.T) {
	for _, tc := range []struct {
		name    string
		changes []Change
		kept    int
		oldest  int64
	}{
		{"none", nil, 0, 0},
		{"all changes that fit", busy(900, 0).changes, 900, 1},
		{"only the newest 1000", busy(1100, 0).changes, 1000, 101},
		{"at least one, of any size", []Change{{Number: 3, Time: began, Deltas: []Delta{{strings.Repeat("x", maxHistoryBytes), nil, nil}}}}, 1, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, kept, err := format(content{changes: tc.changes})
			if err != nil || len(kept) != tc.kept || tc.kept > 0 && kept[0].Number != tc.oldest {
				t.Errorf("kept %d, %v", len(kept), err)
			}
		})
	}
	large := busy(1000, 0)
	for i := range large.changes {
		large.changes[i].Reason = strings.Repeat("x", 512)
	}
	data, kept, err := format(large)
	if err != nil || len(kept) == 1000 || len(kept) < 500 || kept[len(kept)-1].Number != 1000 {
		t.Errorf("kept %d, %v", len(kept), err)
	}
	if size := len(data[HistoryKey]); size > maxHistoryBytes+100 || size < maxHistoryBytes-1000 {
		t.Errorf("the history has %d bytes", size)
	}
	if _, err := readable(large); err != nil {
		t.Errorf("read back: %v", err)
	}
}

func reportsFaultsWithTheirPaths(t *testing.T) {
	for _, tc := range []struct {
		name string
		data map[string]string
		want string
	}{
		{"an unknown key of the ConfigMap", map[string]string{"override.yaml": ""}, "override.yaml: unknown key; overrides must be in overrides.yaml"},
		{"not YAML", map[string]string{Key: "{"}, "overrides.yaml: read YAML: "},
		{"an unknown key", map[string]string{Key: "overrides: {n4: {cpuPerf: 1, memPerf: 1, x: 1}}"}, `unknown field "overrides.n4.x"`},
		{"a key that is set twice", map[string]string{Key: "overrides: {n4: {cpuPerf: 1, memPerf: 1}, n4: {cpuPerf: 1, memPerf: 1}}"}, `mapping key "n4" already defined`},
		{"a second document", map[string]string{Key: "overrides: {}\n---\n"}, "overrides.yaml: must be one YAML document"},
		{"no performance", map[string]string{Key: "overrides: {n4: {cpuPerf: 1}}"}, "overrides.n4.memPerf: must be set to a finite number above 0"},
		{"not a node type", map[string]string{Key: "overrides: {-n4: {cpuPerf: 1, memPerf: 1}}"}, "overrides.-n4.nodeType: must be a valid node type"},
		{"an empty CPU model", map[string]string{Key: "overrides: {n4@: {cpuPerf: 1, memPerf: 1}}"}, `overrides.n4@.nodeType: must be a valid node type: must have a node type before and a CPU model after`},
		{"not a time", map[string]string{Key: "overrides: {n4: {cpuPerf: 1, memPerf: 1, expireTime: soon}}"}, `overrides.n4.expireTime: must be a time such as "2026-11-21T01:02:03Z", not "soon"`},
		{"a fallback of a permanent override", map[string]string{Key: "overrides: {n4: {cpuPerf: 1, memPerf: 1, fallback: {cpuPerf: 1, memPerf: 1}}}"}, "overrides.n4.fallback: must not be set without expireTime"},
		{"a fallback that expires", map[string]string{Key: "overrides: {n4: {cpuPerf: 1, memPerf: 1, expireTime: 2026-11-21T01:02:03Z, fallback: {cpuPerf: 1, memPerf: 1, expireTime: 2026-11-21T01:02:03Z}}}"}, "overrides.n4.fallback: must be permanent"},
		{"a bad fallback", map[string]string{Key: "overrides: {n4: {cpuPerf: 1, memPerf: 1, expireTime: 2026-11-21T01:02:03Z, fallback: {cpuPerf: 1}}}"}, "overrides.n4.fallback.memPerf: must be set"},
		{"two lines", map[string]string{Key: `overrides: {n4: {cpuPerf: 1, memPerf: 1, reason: "a\nb"}}`}, "overrides.n4.reason: must be one line"},
		{"two faults", map[string]string{Key: "overrides: {n4: {memPerf: 1}, c3: {cpuPerf: 1}}"}, "overrides.c3.memPerf: must be set to a finite number above 0; overrides.n4.cpuPerf: "},
		{"a gap in the history", map[string]string{HistoryKey: "changes: [{number: 1, deltas: [{nodeType: n4}]}, {number: 3, deltas: [{nodeType: n4}]}]"}, "changes[1].number: must be 2, not 3"},
		{"a change before the first", map[string]string{HistoryKey: "changes: [{number: 0, deltas: [{nodeType: n4}]}]"}, "changes[0].number: must be at least 1"},
		{"a change without deltas", map[string]string{HistoryKey: "changes: [{number: 1}]"}, "changes[0].deltas: must have at least one"},
		{"a bad value in the history", map[string]string{HistoryKey: "changes: [{number: 1, deltas: [{nodeType: n4, to: {cpuPerf: -1, memPerf: 1}}]}]"}, "changes[0].deltas[0].to: n4.cpuPerf: must be set"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if c, err := parse(tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("read as %+v, %v, want %s", c, err, tc.want)
			}
		})
	}
	for _, data := range []map[string]string{nil, {Key: ""}, {Key: "overrides:"}, {HistoryKey: "changes: []"}} {
		if c, err := parse(data); err != nil || len(c.overrides) > 0 || len(c.changes) > 0 {
			t.Errorf("%v is read as %+v, %v", data, c, err)
		}
	}
}

func anEtagIdentifiesOneState(t *testing.T) {
	r := ratios.Ratio{CPUPerf: 1, MemoryPerf: 2, ExpireTime: began, Provenance: ratios.Provenance{Source: Source, UpdateTime: began, Author: "a", Reason: "b"}}
	seen := map[string]string{}
	for name, change := range map[string]func(*ratios.Ratio){
		"unchanged":        func(*ratios.Ratio) {},
		"cpu":              func(r *ratios.Ratio) { r.CPUPerf = 2 },
		"memory":           func(r *ratios.Ratio) { r.MemoryPerf = 1 },
		"end":              func(r *ratios.Ratio) { r.ExpireTime = time.Time{} },
		"time":             func(r *ratios.Ratio) { r.Provenance.UpdateTime = began.Add(time.Second) },
		"author":           func(r *ratios.Ratio) { r.Provenance.Author = "b" },
		"reason":           func(r *ratios.Ratio) { r.Provenance.Reason = "a" },
		"author to reason": func(r *ratios.Ratio) { r.Provenance.Author, r.Provenance.Reason = "", "ab" },
	} {
		other := r
		change(&other)
		etag := Etag("n4", &Override{Ratio: other})
		if before, twice := seen[etag]; twice || len(etag) != 16 {
			t.Errorf("%s and %s have %s", name, before, etag)
		}
		seen[etag] = name
	}
	if _, known := seen[Etag("n4", &Override{Ratio: r, Fallback: &r})]; known {
		t.Error("the etag must depend on the fallback")
	}
	if Etag("n4", nil) != "none" {
		t.Error("without an override, the etag is the documented one")
	}
}

func FuzzWhatIsWrittenCanBeRead(f *testing.F) {
	f.Add("n4", 1.25, "ann", "why")
	f.Add("null", 1e-300, "~", "yes")
	f.Add("0x1", 1e300, "- a: b", "\ufeff")
	f.Add("n4", 1.0, "\U0001fffe", "\uffff")
	f.Fuzz(func(t *testing.T, nodeType string, perf float64, author, reason string) {
		r := ratios.Ratio{CPUPerf: perf, MemoryPerf: 1, Provenance: ratios.Provenance{Source: Source, UpdateTime: began, Author: author, Reason: reason}}
		if len(faults(nodeType, r)) > 0 {
			return
		}
		c, _ := content{}.with(permanent(map[string]ratios.Ratio{nodeType: r}), Change{Time: began, Author: author, Reason: reason})
		if _, err := readable(c); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkParseAFullDocument(b *testing.B) {
	data, _, err := format(busy(maxChanges, maxOverrides))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data[Key]) + len(data[HistoryKey])))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
