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
	t.Run("faults of a shard are told by key and line", faultsOfAShardAreToldByKeyAndLine)
	t.Run("what is written by hand is read", whatIsWrittenByHandIsRead)
	t.Run("the same text is read once", theSameTextIsReadOnce)
	t.Run("shards of node types never change", shardsOfNodeTypesNeverChange)
	t.Run("times are kept to the second in UTC", timesAreKeptToTheSecondInUTC)
}

func faultsOfAShardAreToldByKeyAndLine(t *testing.T) {
	for _, tc := range []struct{ name, nodeType, text, want string }{
		{"no JSON", "n4", line + "\nsamples\n", "key n4, line 2: read JSON: "},
		{"half a line", "n4", line[:40], "key n4, line 1: read JSON: "},
		{"no object", "n4", "[]", "key n4, line 1: read JSON: "},
		{"null", "n4", "null", `key n4, line 1: nodeType must be the key's, not ""`},
		{"another node type", "n4", strings.Replace(line, "n4", "c3", 1), `key n4, line 1: nodeType must be the key's, not "c3"`},
		{"no score", "n4", strings.Replace(line, `"score":1`, `"score":0`, 1), "key n4, line 1: score must be a number above 0"},
		{"an unknown field", "n4", strings.Replace(line, `"score"`, `"points"`, 1), `key n4, line 1: unknown field "points"`},
		{"a field twice", "n4", strings.Replace(line, `{`, `{"score":2,`, 1), `key n4, line 1: duplicate field "score"`},
		{"an id twice", "n4", line + "\n\n" + line, `key n4, line 3: id "a-1" is there twice`},
		{"what belongs elsewhere", "c3", line, "key c3: belongs in prefix-3"},
		{"more than anybody reads", "n4", strings.Repeat("x\n", 15), "and 5 more faults"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parserOf("n4").parse(map[string]string{tc.nodeType: tc.text})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func whatIsWrittenByHandIsRead(t *testing.T) {
	c, err := parserOf("n4").parse(map[string]string{"n4": "\r\n  " + strings.Replace(line, "01:02:03Z", "02:02:03.5+01:00", 1) + " \r\n"})
	if err != nil {
		t.Fatal(err)
	}
	if got := c["n4"].rows[0].Time; got != began {
		t.Errorf("measured at %v", got)
	}
}

func theSameTextIsReadOnce(t *testing.T) {
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

// What is stored is found by the hash, also by later versions.
func shardsOfNodeTypesNeverChange(t *testing.T) {
	for nodeType, want := range map[string]int{"n4": 15, "n2d": 7, "c3": 3, "e2": 6} {
		if got := shardOf(nodeType); got != want {
			t.Errorf("%s is in shard %d, want %d", nodeType, got, want)
		}
	}
}

// Whatever can be read can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add("n4", line)
	f.Add("n4", line+"\n"+strings.Replace(line, "a-1", "ä\\u2028-2", 1)+"\n")
	f.Add("n4", strings.Replace(line, `"time"`, `"spot":true,"threads":1,"time"`, 1))
	f.Add("n4", strings.Replace(line, "2026", "0001", 1))
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
			groups = Limits{PerKey: len(e.rows) + 1, Bytes: maxBytes}.bound(slices.Clone(e.rows), began)
		}
		written := write(groups)
		if len(written) == 0 {
			return
		}
		again, err := parserOf(nodeType).parse(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		for _, r := range c[nodeType].rows {
			if !slices.ContainsFunc(again[nodeType].rows, func(o row) bool { return o.Sample == r.Sample }) {
				t.Errorf("%v is lost", r)
			}
		}
	})
}

func timesAreKeptToTheSecondInUTC(t *testing.T) {
	s := measured("a", 1)
	s.Time = s.Time.Add(time.Millisecond).In(time.FixedZone("elsewhere", 3600))
	if got := normal(s); got != measured("a", 1) {
		t.Errorf("got %v", got)
	}
}
