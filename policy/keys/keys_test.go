package keys_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// section has a key at the top, keys below another one, and a key that rules extend.
type section struct {
	Count  int
	Inner  inner
	Labels map[string]string
}

type inner struct {
	Share float64
	On    bool
}

func (s *section) Keys() []keys.Key {
	return append(keys.Below("inner", keys.Of("share", &s.Inner.Share, keys.Share, 0.1, "a share"), keys.Of("on", &s.Inner.On, keys.Flag, true, "a flag")),
		keys.Of("count", &s.Count, keys.Count(9, 2), 3, "a number").Or("three"),
		keys.Of("labels", &s.Labels, labels, nil, "labels"))
}

var labels = keys.Kind[map[string]string]{
	Read: func(v reader.Value) (map[string]string, bool) {
		all := map[string]string{}
		v.Each(func(name string, v reader.Value) { all[name], _ = v.Text() })
		return all, true
	},
	Merge: func(own, globals map[string]string) map[string]string {
		all := map[string]string{}
		for _, from := range []map[string]string{globals, own} {
			for key, value := range from {
				all[key] = value
			}
		}
		return all
	},
}

func TestKeys(t *testing.T) {
	t.Run("reads what is set", readsWhatIsSet)
	t.Run("reports all faults", reportsAllFaults)
	t.Run("a section has the values of the globals that it does not set", aSectionHasTheValuesOfTheGlobals)
	t.Run("what is not set has its default", whatIsNotSetHasItsDefault)
	t.Run("some keys are set", someKeysAreSet)
	t.Run("describes keys", describesKeys)
	t.Run("refuses fields outside the section, and too many keys", refusesDeclarations)
}

// read reads a section.
func read(t *testing.T, text string) (p keys.Partial[section], faults reader.Faults) {
	t.Helper()
	var r reader.Reader
	v, ok := r.Read([]byte(text))
	if !ok {
		t.Fatal(r.Faults)
	}
	if fine := p.Read(v); fine != (len(r.Faults) == 0) {
		t.Errorf("%q is fine: %t, but has the faults %q", text, fine, r.Faults)
	}
	return p, r.Faults
}

func readsWhatIsSet(t *testing.T) {
	p, faults := read(t, "{count: 5, inner: {on: false}}")
	if want := (section{Count: 5}); len(faults) > 0 || !cmp.Equal(p.Values, want) {
		t.Errorf("%+v, %v", p.Values, faults)
	}
	if p.IsEmpty() || !p.Sets("count") || !p.Sets("inner") || !p.Sets("inner.on") || p.Sets("inner.share") || p.Sets("labels") || p.Sets("in") || !p.Sets("labels", "count") {
		t.Errorf("%+v", p)
	}
	for _, text := range []string{"", "{}", "inner: {}", "inner:"} {
		if p, faults := read(t, text); !p.IsEmpty() || len(faults) > 0 {
			t.Errorf("%q sets %+v, %v", text, p, faults)
		}
	}
}

func reportsAllFaults(t *testing.T) {
	p, faults := read(t, "count: 10\ninner:\n  share: 0\n  of: 1\nmore: 1\n")
	want := reader.Faults{
		`count: line 1: must be a whole number from 1 to 9, such as 2, not "10"`, "inner.of: line 4: unknown key",
		`inner.share: line 3: must be a number above 0 and at most 1, such as 0.1 or 10%, not "0"`, "more: line 5: unknown key",
	}
	if diff := cmp.Diff(want, faults, cmp.Transformer("sorted", func(f reader.Faults) map[string]bool {
		all := map[string]bool{}
		for _, text := range f {
			all[text] = true
		}
		return all
	})); diff != "" || !p.IsEmpty() {
		t.Errorf("%s, %+v", diff, p)
	}
}

func aSectionHasTheValuesOfTheGlobals(t *testing.T) {
	globals, _ := read(t, "{count: 5, inner: {share: 20%}, labels: {a: x, b: x}}")
	own, _ := read(t, "{inner: {share: 30%, on: false}, labels: {b: y}}")
	all := own.Over(globals)
	if want := (section{Count: 5, Inner: inner{Share: 0.3}, Labels: map[string]string{"a": "x", "b": "y"}}); !cmp.Equal(all.Values, want) || !all.Sets("inner.on") {
		t.Errorf("%+v", all)
	}
	if globals.Values.Inner.Share != 0.2 || len(own.Values.Labels) != 1 || own.Sets("count") || globals.Sets("inner.on") {
		t.Errorf("changed %+v or %+v", globals, own)
	}
	var none keys.Partial[section]
	if over, under := own.Over(none), none.Over(own); !over.Equal(own) || !under.Equal(own) || own.Equal(globals) || none.Equal(keys.Some(section{}, "count")) {
		t.Errorf("%+v and %+v, want %+v", over, under, own)
	}
}

func whatIsNotSetHasItsDefault(t *testing.T) {
	if all := keys.Defaults[section](); !cmp.Equal(all, section{Count: 3, Inner: inner{Share: 0.1, On: true}}) {
		t.Errorf("%+v", all)
	}
	p, _ := read(t, "inner: {on: false}")
	if all := p.Complete(); !cmp.Equal(all, section{Count: 3, Inner: inner{Share: 0.1}}) || p.Sets("count") {
		t.Errorf("%+v", all)
	}
}

func someKeysAreSet(t *testing.T) {
	p := keys.Some(section{Inner: inner{Share: 0.5}}, "count")
	if !p.Sets("inner.share") || !p.Sets("count") || p.Sets("inner.on") || p.Sets("labels") {
		t.Errorf("%+v", p)
	}
	if all := keys.Some(section{}, "inner"); !all.Sets("inner.on") || !all.Sets("inner.share") || all.Sets("count") {
		t.Errorf("%+v", all)
	}
}

func describesKeys(t *testing.T) {
	var got []string
	for _, k := range keys.Declared[section]() {
		got = append(got, strings.Join([]string{k.Name, k.Values, k.Default, k.Meaning}, "|"))
	}
	want := []string{"inner.share|a share|10%|a share", "inner.on|`true`, `false`|true|a flag", "count|1 to 9|three|a number", "labels|||labels"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

var elsewhere int

type outside struct{ Count int }

func (o *outside) Keys() []keys.Key {
	return []keys.Key{keys.Of("count", &elsewhere, keys.Count(9, 2), 3, "")}
}

type large struct{ Count int }

func (l *large) Keys() []keys.Key {
	return make([]keys.Key, 129)
}

func refusesDeclarations(t *testing.T) {
	for name, declare := range map[string]func(){"outside": func() { keys.Declared[outside]() }, "large": func() { keys.Declared[large]() }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			declare()
		}()
	}
}

func TestKinds(t *testing.T) {
	t.Run("durations", func(t *testing.T) {
		kind := keys.Duration(90*time.Second, 9*keys.Day)
		for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "9d": 9 * keys.Day, "216h": 9 * keys.Day, "89s": -1, "217h": -1, "10d": -1, "5": -1, "-1d": -1} {
			check(t, kind, text, want, want >= 0, `must be a duration from 1m30s to 9d, such as 24h or 8d`)
		}
		for d, want := range map[time.Duration]string{0: "0d", time.Hour: "1h", 90 * time.Minute: "90m", 90 * time.Second: "1m30s", 48 * time.Hour: "2d"} {
			if got := kind.Text(d); got != want {
				t.Errorf("%d is %s, want %s", d, got, want)
			}
		}
	})
	t.Run("amounts", func(t *testing.T) {
		for text, want := range map[string]int64{"1": 1000, "10k": 10_000_000, "1m": 1, "0": 0, "1Ki": 1_024_000} {
			check(t, keys.CPU.Bound(0), text, want, true, "")
		}
		check(t, keys.CPU.Bound(1), "0", 0, false, `"0" is too small; omit it for no bound`)
		check(t, keys.CPU.Amount(1), "0", 0, false, `"0" is too small; omit it for the default`)
		check(t, keys.Memory.Amount(0), "1Pi", 1<<50, true, "")
		check(t, keys.Memory.Amount(0), "1025Ti", 0, false, `"1025Ti" is more than 1Pi, which no machine has`)
		check(t, keys.Memory.Amount(0), "1023Ki", 0, false, `"1023Ki" is less than 1Mi`)
		check(t, keys.Memory.Amount(0), "1Mi", 1<<20, true, "")
		for bytes, want := range map[int64]string{64 << 20: "64Mi", 3 << 29: "1536Mi", 1500 << 10: "1500Ki", 1536 << 10: "1536Ki", 32_000_000_000: "32G", 64_000_000: "64M", 1_500_000: "1500k", 1<<20 + 1: "1048577"} {
			if got := keys.Memory.Text(bytes); got != want {
				t.Errorf("%d bytes are %s, want %s", bytes, got, want)
			}
		}
	})
	t.Run("lists", func(t *testing.T) {
		kind := keys.List("two", 2, "words", func(v reader.Value, before []string) string {
			text, _ := v.Text()
			return text + strings.Repeat("+", len(before))
		})
		check(t, kind, "[a, b]", []string{"a", "b+"}, true, "")
		check(t, kind, "[]", []string{}, true, "")
		check(t, kind, "[a, b, c]", []string{"a", "b+", "c++"}, true, "has 3 words, but must have at most 2")
		if _, ok := kind.Read(value(t, new(reader.Reader), "~")); ok {
			t.Error("null is set")
		}
	})
	t.Run("numbers", func(t *testing.T) {
		for _, text := range []string{"1", "2.5", "4"} {
			check(t, keys.Between(1, 4, 2), text, map[string]float64{"1": 1, "2.5": 2.5, "4": 4}[text], true, "")
		}
		for _, text := range []string{"0.99", "4.01", ".inf", "many"} {
			check(t, keys.Between(1, 4, 2), text, 0, false, "must be a number from 1 to 4, such as 2")
		}
		for text, ok := range map[string]bool{"1": true, "9": true, "0": false, "10": false, "1.5": false} {
			n := map[string]int{"1": 1, "9": 9}[text]
			check(t, keys.Count(9, 2), text, n, ok, "must be a whole number from 1 to 9, such as 2")
		}
	})
}

// value returns a value of a document.
func value(t *testing.T, r *reader.Reader, text string) reader.Value {
	t.Helper()
	v, ok := r.Read([]byte(text))
	if !ok {
		t.Fatal(r.Faults)
	}
	return v
}

// check reads a value. A value that is not set has a fault, and so may one that is.
func check[V any](t *testing.T, kind keys.Kind[V], text string, want V, set bool, fault string) {
	t.Helper()
	var r reader.Reader
	got, ok := kind.Read(value(t, &r, text))
	if ok != set || ok && !cmp.Equal(got, want) {
		t.Errorf("%s is %v, set: %t", text, got, ok)
	}
	if faults := r.Faults.Error(); !ok && !strings.Contains(faults, fault) || ok && fault == "" && faults != "" {
		t.Errorf("%s: %s", text, faults)
	}
}
