package samples

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	line   = `{"id":"a-1","nodeType":"n4","benchmark":"coremark","score":1,"vcpus":8,"threads":8,"machine":"a","time":"2026-11-21T01:02:03Z"}`
	prefix = `prefix-`
)

func parserOf(nodeType string) *parser {
	return &parser{config: &Config{Prefix: prefix}, shard: shardOf(nodeType)}
}

func TestContent(t *testing.T) {
	t.Run("reports faults of a shard by key and line", reportsFaultsOfAShardByKeyAndLine)
	t.Run("reads hand-written content", readsHandWrittenContent)
	t.Run("parses the same text once", parsesTheSameTextOnce)
	t.Run("shards of node types never change", shardsOfNodeTypesNeverChange)
	t.Run("stores times to the second in UTC", storesTimesToTheSecondInUTC)
}

func reportsFaultsOfAShardByKeyAndLine(t *testing.T) {
	for _, tc := range []struct{ name, nodeType, text, want string }{
		{"not JSON", "n4", line + "\nsamples\n", "key n4, line 2: read JSON: "},
		{"a truncated line", "n4", line[:40], "key n4, line 1: read JSON: "},
		{"not an object", "n4", "[]", "key n4, line 1: read JSON: "},
		{"null", "n4", "null", `key n4, line 1: nodeType is "", but must match the key`},
		{"a different node type", "n4", strings.Replace(line, "n4", "c3", 1), `key n4, line 1: nodeType is "c3", but must match the key`},
		{"no score", "n4", strings.Replace(line, `"score":1`, `"score":0`, 1), "key n4, line 1: score must be a number above 0"},
		{"an unknown field", "n4", strings.Replace(line, `"score"`, `"points"`, 1), `key n4, line 1: unknown field "points"`},
		{"a duplicate field", "n4", strings.Replace(line, `{`, `{"score":2,`, 1), `key n4, line 1: duplicate field "score"`},
		{"a duplicate ID", "n4", line + "\n\n" + line, `key n4, line 3: duplicate id "a-1"`},
		{"a node type of another shard", "c3", line, "key c3: belongs in prefix-3"},
		{"too many faults", "n4", strings.Repeat("x\n", 15), "and 5 more faults"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parserOf("n4").parse(map[string]string{tc.nodeType: tc.text})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func readsHandWrittenContent(t *testing.T) {
	c, err := parserOf("n4").parse(map[string]string{"n4": "\r\n  " + strings.Replace(line, "01:02:03Z", "02:02:03.5+01:00", 1) + " \r\n"})
	if err != nil {
		t.Fatal(err)
	}
	if got := c["n4"].rows[0].Time; got != began {
		t.Errorf("measured at %v", got)
	}
}

func parsesTheSameTextOnce(t *testing.T) {
	p := parserOf("n4")
	data := map[string]string{"n4": line}
	first, err := p.parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.parse(map[string]string{"n4": "samples"}); err == nil {
		t.Fatal("want an error")
	}
	if again, err := p.parse(data); err != nil || !maps.Equal(first, again) {
		t.Errorf("%v, %v", again, err)
	}
}

// Later versions must find stored samples by the same hash.
func shardsOfNodeTypesNeverChange(t *testing.T) {
	for nodeType, want := range map[string]int{"n4": 15, "n2d": 7, "c3": 3, "e2": 6} {
		if got := shardOf(nodeType); got != want {
			t.Errorf("%s is in shard %d, want %d", nodeType, got, want)
		}
	}
}

// FuzzParse checks that content that can be read can be written and read back.
func FuzzParse(f *testing.F) {
	f.Add("n4", line)
	f.Add("n4", line+"\n"+strings.Replace(line, "a-1", "ä\\u2028-2", 1)+"\n")
	f.Add("n4", strings.Replace(line, `"time"`, `"spot":true,"threads":1,"time"`, 1))
	f.Add("n4", strings.Replace(line, "2026", "0001", 1))
	f.Add("n4", packedOf(f, measured("a", 1), measured("a", 1, by("x")), measured("b", 2, spot)))
	f.Add("", "")
	f.Add("n4", "{}\nnull\n[1]")
	f.Add("n4", strings.Replace(line, "a-1", "\xff", 1))
	f.Fuzz(func(t *testing.T, nodeType, text string) {
		c, err := parserOf(nodeType).parse(map[string]string{nodeType: text})
		if err != nil {
			return
		}
		var groups []group
		for _, e := range c {
			groups = append(groups, Limits{PerKey: len(e.rows) + 1, Bytes: maxBytes}.bound(e.rows, began)...)
		}
		written, _, err := write(nil, groups)
		if err != nil {
			t.Fatal(err)
		}
		if len(written) == 0 {
			return
		}
		again, err := parserOf(nodeType).parse(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		for _, g := range groups {
			for _, r := range g.rows {
				if !slices.Contains(again[nodeType].rows, r) {
					t.Errorf("%v is lost", r)
				}
			}
		}
	})
}

func storesTimesToTheSecondInUTC(t *testing.T) {
	s := measured("a", 1)
	s.Time = s.Time.Add(time.Millisecond).In(time.FixedZone("elsewhere", 3600))
	if got := normal(s); got != measured("a", 1) {
		t.Errorf("got %v", got)
	}
}
