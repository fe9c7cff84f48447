package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// noon is a time in the tests.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func resized(name string, at time.Time, from, to int64) Entry {
	return Entry{
		Kind: Resize, At: at, Namespace: "shop", Workload: workload.Workload{Kind: "Deployment", Name: name}, Author: "workload-resizer", Reason: "Resized",
		Sizes: Sizes{FromCPU: Range{from, from}, ToCPU: Range{to, to}},
	}
}

func act(kind Kind, namespace, ref string, at time.Time) Entry {
	return Entry{Kind: kind, At: at, Namespace: namespace, Ref: ref, Author: "ann", Reason: "maintenance", From: None, To: "pause"}
}

func TestBatch(t *testing.T) {
	t.Run("counts the resizes of a workload in an hour as one entry", func(t *testing.T) {
		var b Batch
		b.Add(resized("web", noon, 500, 400), "1", noon)
		b.Add(resized("web", noon.Add(30*time.Minute), 1000, 800), "2", noon)
		b.Add(resized("web", noon.Add(20*time.Minute), 400, 450), "1", noon)
		b.Add(resized("web", noon.Add(time.Hour), 500, 400), "1", noon)
		b.Add(resized("db", noon, 500, 400), "3", noon)
		want := []string{
			"db 12:00 12:00 1 of 1: cpu 500m → cpu 400m",
			"web 12:00 12:30 3 of 2: cpu 400m to 1 → cpu 400m to 800m",
			"web 13:00 13:00 1 of 1: cpu 500m → cpu 400m",
		}
		if diff := cmp.Diff(want, texts(b.Take(Resizes, noon))); diff != "" {
			t.Error(diff)
		}
		if _, waits := b.Since(Resizes); waits {
			t.Error("taken entries still wait")
		}
	})
	t.Run("restores are counted separately", func(t *testing.T) {
		var b Batch
		e := resized("web", noon, 500, 400)
		b.Add(e, "1", noon)
		e.Reason = "Restored"
		b.Add(e, "1", noon)
		if got := b.Take(Resizes, noon); len(got) != 2 {
			t.Errorf("%d entries", len(got))
		}
	})
	t.Run("drops resizes before acts, and says so", func(t *testing.T) {
		var b Batch
		for i := range most + 10 {
			b.Add(resized(fmt.Sprint("w", i), noon.Add(time.Minute), 500, 400), fmt.Sprint(i), noon)
		}
		for i := range 5 {
			b.Add(act(Hold, "shop", fmt.Sprint("pause ", i), noon), "", noon)
		}
		acts := b.Take(Acts, noon.Add(time.Hour))
		if len(acts) != 6 || acts[0].Kind != Gap || !acts[0].At.Equal(noon.Add(time.Minute)) || !acts[0].Last.Equal(noon.Add(time.Hour)) {
			t.Errorf("%d acts, the first is %+v", len(acts), acts[0])
		}
		kept := 0
		for more := b.Take(Resizes, noon); len(more) > 0; more = b.Take(Resizes, noon) {
			kept += len(more)
		}
		if kept != most-5 {
			t.Errorf("%d resizes", kept)
		}
		if again := b.Take(Acts, noon); len(again) > 0 {
			t.Errorf("the gap is there again: %v", again)
		}
	})
	t.Run("a gap waits for no act", func(t *testing.T) {
		var b Batch
		for i := range most + 1 {
			b.Add(resized(fmt.Sprint("w", i), noon, 500, 400), fmt.Sprint(i), noon)
		}
		if since, waits := b.Since(Acts); !waits || !since.Equal(noon) {
			t.Errorf("since %s, %v", since, waits)
		}
		if acts := b.Take(Acts, noon); len(acts) != 1 || acts[0].Kind != Gap {
			t.Errorf("%+v", acts)
		}
	})
	t.Run("gaps of both classes are two", func(t *testing.T) {
		var b Batch
		for i := range most {
			b.Add(act(Hold, "shop", fmt.Sprint("pause ", i), noon), "", noon)
		}
		b.Add(act(Hold, "shop", "one more", noon.Add(time.Minute)), "", noon)
		b.Add(resized("web", noon, 500, 400), "1", noon)
		acts := (&Segment{Class: Acts, Number: 1}).With("b", b.Take(Acts, noon.Add(time.Hour)), noon.Add(time.Hour))
		var gaps []string
		for _, e := range acts.Entries {
			if e.Kind == Gap {
				gaps = append(gaps, e.At.Format("15:04 ")+e.Message)
			}
		}
		const message = "the journal could not be stored for too long, and some %s of this time were dropped"
		if diff := cmp.Diff([]string{"12:00 " + fmt.Sprintf(message, Resizes), "12:01 " + fmt.Sprintf(message, Acts)}, gaps); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what is too old is not added", func(t *testing.T) {
		var b Batch
		for _, at := range []time.Time{noon.Add(-Age - time.Second), {}, time.Unix(-1, 0)} {
			b.Add(act(Hold, "shop", "pause", at), "", noon)
		}
		if _, waits := b.Since(Acts); waits || len(b.Take(Acts, noon)) > 0 {
			t.Error("it was added")
		}
	})
	t.Run("hostile names are stored, bounded, and read as they are", func(t *testing.T) {
		long := strings.Repeat("\x00\xff<", 1000)
		for _, names := range []workload.Workload{{Kind: long, Name: long}, {Kind: "a/b", Name: "c/d"}, {Kind: "", Name: "web"}, {Kind: "Rollout", Name: "a/b/c"}} {
			for _, kind := range []Kind{Resize, Revert, Override} {
				var b Batch
				e := Entry{
					Kind: kind, At: noon, Namespace: long, Workload: names, Pod: long, Node: long, Author: long, Reason: long, Message: long, From: long, To: long, Ref: long,
				}
				b.Add(e, long, noon)
				s := &Segment{Class: kind.Class(), Number: 1}
				s = s.With("b", b.Take(s.Class, noon), noon)
				text, err := s.Text()
				if err != nil || len(text) > 10_000 {
					t.Fatalf("%d bytes, %v", len(text), err)
				}
				again, err := Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(s, again); diff != "" {
					t.Error(diff)
				}
				b.Add(e, long, noon)
				if twice := again.With("c", b.Take(s.Class, noon), noon); len(twice.Entries) != 1 {
					t.Errorf("the same %s is %d entries", kind, len(twice.Entries))
				}
			}
		}
	})
	t.Run("long texts are cut between characters", func(t *testing.T) {
		var b Batch
		e := act(Hold, "shop", "pause 1", noon)
		e.Reason = strings.Repeat("ä", longest)
		b.Add(e, "", noon)
		if got := b.Take(Acts, noon)[0].Reason; got != strings.Repeat("ä", longest/2)+"…" {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	})
}

func texts(entries []Entry) (all []string) {
	for i := range entries {
		e := &entries[i]
		all = append(all, fmt.Sprintf("%s %s %s %d of %d: %s → %s", e.Workload.Name, e.At.Format("15:04"), e.End().Format("15:04"), e.Count, e.Pods, e.Before(), e.After()))
	}
	slices.Sort(all)
	return all
}

func TestSegment(t *testing.T) {
	empty := &Segment{Class: Resizes, Number: 1}
	add := func(s *Segment, id string, now time.Time, entries ...Entry) *Segment {
		var b Batch
		for i, e := range entries {
			b.Add(e, fmt.Sprint(id, i), now)
		}
		return s.With(id, b.Take(s.Class, now), now)
	}
	t.Run("adds to what it has of the hour", func(t *testing.T) {
		s := add(empty, "a", noon, resized("web", noon, 500, 400))
		s = add(s, "b", noon, resized("web", noon.Add(time.Minute), 600, 300), resized("db", noon, 1, 2))
		want := []string{"db 12:00 12:00 1 of 1: cpu 1m → cpu 2m", "web 12:00 12:01 2 of 2: cpu 500m to 600m → cpu 300m to 400m"}
		if diff := cmp.Diff(want, texts(s.Entries)); diff != "" {
			t.Error(diff)
		}
		if s.Batch != "b" || len(empty.Entries) > 0 {
			t.Errorf("batch %q; the segment before has %d entries", s.Batch, len(empty.Entries))
		}
	})
	t.Run("drops what is too old", func(t *testing.T) {
		s := add(empty, "a", noon, resized("web", noon, 500, 400))
		if s = s.With("b", nil, noon.Add(Age)); len(s.Entries) != 1 {
			t.Error("an entry was dropped too early")
		}
		if s = s.With("c", nil, noon.Add(Age+time.Second)); len(s.Entries) != 0 {
			t.Error("an entry is kept for too long")
		}
	})
	t.Run("who ended something replaces that it ended", func(t *testing.T) {
		acts := &Segment{Class: Acts, Number: 1}
		began := act(Hold, "shop", "pause 1", noon)
		seen, done := Ended(began, noon.Add(time.Minute), "", ""), Ended(began, noon.Add(time.Second), "bob", "over")
		for _, order := range [][]Entry{{seen, done}, {done, seen}} {
			s := acts
			for i, e := range order {
				s = add(s, fmt.Sprint(i), noon, e)
			}
			if len(s.Entries) != 1 || s.Entries[0].Author != "bob" || s.Entries[0].From != "pause" || s.Entries[0].To != None {
				t.Errorf("%+v", s.Entries)
			}
		}
	})
	t.Run("text is read as it was written", func(t *testing.T) {
		revert := Entry{
			Kind: Revert, At: noon, Namespace: "shop", Workload: workload.Workload{Kind: "StatefulSet", Name: "db"}, Pod: "db-0", Node: "n1", Author: "workload-resizer",
			Reason: "Reverted", Message: "app was killed: out of memory <1Gi>", Sizes: Sizes{FromMemory: Range{1 << 30, 1 << 30}, ToMemory: Range{2 << 30, 2 << 30}}, Ref: "uid x",
		}
		gap := NewGap(noon.Add(-time.Hour), noon, "Full", "full")
		s := (&Segment{Class: Acts, Number: 7}).With("b", []Entry{revert, gap, act(Freeze, "", "freeze 1", noon)}, noon)
		text, err := s.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("is full before the ConfigMap is", func(t *testing.T) {
		for count, want := range map[int]error{3000: nil, 20_000: ErrFull} {
			var more []Entry
			for i := range count {
				e := resized(fmt.Sprintf("workload-%d", i*7919%count), noon.Add(time.Duration(i)*time.Second), int64(i), int64(i*31))
				e.Ref = "Resized 1"
				more = append(more, e)
			}
			if text, err := empty.With("b", more, noon).Text(); !errors.Is(err, want) || len(text) > MaxBytes {
				t.Errorf("%d entries have %d bytes, %v", count, len(text), err)
			}
		}
	})
}

func TestParse(t *testing.T) {
	valid := func(lines ...string) string {
		return pack(strings.Join(append([]string{`{"class":"acts","number":1}`}, lines...), "\n"))
	}
	for name, tc := range map[string]struct{ text, want string }{
		"no base64":             {"%", "read the head"},
		"not deflated":          {"aGVsbG8=", "read the head"},
		"an unknown class":      {pack(`{"class":"others","number":1}`), `the class "others"`},
		"no number":             {pack(`{"class":"acts"}`), "the number 0"},
		"an unknown field":      {valid(`{"k":"Hold","t":1,"later":2}`), "later"},
		"an unknown kind":       {valid(`{"k":"Later","t":1}`), `kind "Later" is not known`},
		"no time":               {valid(`{"k":"Hold"}`), "the times 0 and 0"},
		"a time without end":    {valid(`{"k":"Hold","t":1,"l":9223372036854775807}`), "are not valid"},
		"a negative count":      {valid(`{"k":"Hold","t":1,"c":-1}`), "the counts -1 and 0"},
		"half a workload":       {valid(`{"k":"Hold","t":1,"w":"Deployment"}`), `the workload "Deployment"`},
		"an entry of the class": {valid(`{"k":"Resize","t":1}`), "a Resize is not one of the acts"},
		"half an entry":         {valid(`{"k":"Hold",`), "read entry 1"},
		"too many entries":      {valid(strings.Repeat(`{"k":"Hold","t":1}`, maxEntries+1)), "more than"},
		"too many bytes":        {valid(strings.Repeat(" ", maxUnpacked+1)), "more than"},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			if s, err := Parse(tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
}

func TestBook(t *testing.T) {
	all := func(int) bool { return true }
	filled := func(class Class, number int64) *Segment {
		e := act(Hold, "shop", fmt.Sprint("pause ", number), noon.Add(time.Duration(number)*time.Minute))
		if class == Resizes {
			e = resized("web", e.At, 1, 2)
		}
		return &Segment{Class: class, Number: number, Entries: []Entry{e}}
	}
	t.Run("an empty book begins with any slot", func(t *testing.T) {
		var b Book
		if _, ok := b.Open(Acts); ok {
			t.Error("there is an open segment")
		}
		slot, next, ok := b.Next(Acts, func(slot int) bool { return slot != 0 }, noon)
		if !ok || slot != 1 || next.Number != 1 || next.Class != Acts {
			t.Errorf("slot %d, %+v", slot, next)
		}
	})
	t.Run("resizes make room for resizes and acts, the oldest first", func(t *testing.T) {
		var b Book
		for i := range b {
			b[i] = filled(Resizes, int64(40-i))
		}
		b[3] = filled(Acts, 1)
		for _, class := range []Class{Resizes, Acts} {
			slot, next, ok := b.Next(class, all, noon)
			if !ok || slot != Slots-1 || next.Number != 41 || next.Class != class {
				t.Errorf("%s: slot %d, %+v", class, slot, next)
			}
		}
		if slot, ok := b.Open(Resizes); !ok || slot != 0 {
			t.Errorf("slot %d is open", slot)
		}
	})
	t.Run("acts leave two segments for resizes", func(t *testing.T) {
		var b Book
		for i := range b {
			b[i] = filled(Acts, int64(i+1))
		}
		b[7], b[8] = filled(Resizes, 99), nil
		b[9] = nil
		if slot, _, _ := b.Next(Acts, all, noon); slot != 8 {
			t.Errorf("slot %d with 13 segments of acts", slot)
		}
		b[8] = filled(Acts, 50)
		if slot, _, _ := b.Next(Acts, all, noon); slot != 0 {
			t.Errorf("slot %d with 14 segments of acts", slot)
		}
		if slot, _, _ := b.Next(Resizes, all, noon); slot != 9 {
			t.Errorf("slot %d for resizes", slot)
		}
	})
	t.Run("a segment without entries that are kept is free, and leaves no gap", func(t *testing.T) {
		var b Book
		for i := range b {
			b[i] = filled(Resizes, int64(i+1))
		}
		now := noon.Add(Age + time.Minute + time.Second)
		slot, _, ok := b.Next(Acts, all, now)
		if _, dropped := b[slot].Dropped(now); !ok || slot != 0 || dropped {
			t.Errorf("slot %d, dropped %v", slot, dropped)
		}
		if gap, dropped := b[1].Dropped(now); !dropped || gap.Reason != "Full" || !gap.At.Equal(noon.Add(2*time.Minute)) {
			t.Errorf("%+v, %v", gap, dropped)
		}
	})
}

func TestGap(t *testing.T) {
	for _, tc := range []struct {
		name string
		mark Mark
		want string
	}{
		{"the first leader leaves none", Mark{}, ""},
		{"a leader that ended in order leaves none", Mark{Until: noon.Add(-Takeover), Ended: true}, ""},
		{"an hour without a leader is one", Mark{Until: noon.Add(-time.Hour), Ended: true}, "NotRecorded 20 11:00 to 20 12:00"},
		{"a killed leader leaves one", Mark{Until: noon.Add(-time.Second)}, "NotStored 20 11:59 to 20 12:00"},
		{"a killed leader whose clock was fast leaves one", Mark{Until: noon.Add(time.Minute)}, "NotStored 20 12:00 to 20 12:01"},
		{"a leader that ended in order with a fast clock leaves none", Mark{Until: noon.Add(time.Hour), Ended: true}, ""},
		{"a gap begins when entries are kept", Mark{Until: noon.Add(-Age - 24*time.Hour)}, "NotStored 21 12:00 to 20 12:00"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			if gap, ok := tc.mark.Since(noon); ok {
				got = fmt.Sprintf("%s %s to %s", gap.Reason, gap.At.Format("2 15:04"), gap.Last.Format("2 15:04"))
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	pause, later := act(Hold, "shop", "pause 1 a", noon), act(Hold, "shop", "pause 1 b", noon)
	later.To = "pause until tomorrow"
	ended := Ended(pause, noon.Add(time.Minute), "", "")
	at := noon.Add(time.Hour)
	for _, tc := range []struct {
		name  string
		known []Entry
		now   []Entry
		want  []string
	}{
		{"a new hold", nil, []Entry{pause}, []string{"12:00 ann: none → pause"}},
		{"a known hold", []Entry{pause}, []Entry{pause}, nil},
		{"a changed hold", []Entry{pause}, []Entry{later}, []string{"13:00 ann: pause → pause until tomorrow"}},
		{"a hold that ended", []Entry{pause}, nil, []string{"13:00 : pause → none"}},
		{"a hold whose end is known", []Entry{ended, pause}, nil, nil},
		{"a hold that is older than the journal", nil, []Entry{act(Hold, "shop", "pause 0 a", at.Add(-Age-time.Second))}, nil},
		{"a hold of another namespace", []Entry{pause}, []Entry{pause, act(Hold, "db", "pause 1 a", noon)}, []string{"12:00 ann: none → pause"}},
		{"a restore besides a pause", []Entry{pause}, []Entry{pause, act(Hold, "shop", "restore 1 a", noon)}, []string{"12:00 ann: none → pause"}},
		{"what are not holds", []Entry{act(Override, "", "change 1", noon)}, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var known []*Entry
			for i := range tc.known {
				known = append(known, &tc.known[i])
			}
			var got []string
			for _, e := range Changes(known, tc.now, at) {
				got = append(got, fmt.Sprintf("%s %s: %s → %s", e.At.Format("15:04"), e.Author, e.From, e.To))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilter(t *testing.T) {
	web := resized("web", noon, 1, 2)
	web.Last = noon.Add(time.Hour)
	revert := act(Revert, "shop", "uid 1", noon)
	revert.Pod, revert.Author = "web-0", "workload-resizer"
	gap, freeze := NewGap(noon, noon.Add(time.Minute), "Full", ""), act(Freeze, "", "freeze 1", noon)
	for _, tc := range []struct {
		name   string
		filter Filter
		want   []Kind
	}{
		{"everything", Filter{}, []Kind{Resize, Revert, Gap, Freeze}},
		{"a namespace", Filter{Namespace: "shop"}, []Kind{Resize, Revert, Gap}},
		{"another namespace", Filter{Namespace: "db"}, []Kind{Gap}},
		{"a workload", Filter{Workload: workload.Workload{Kind: "Deployment", Name: "web"}}, []Kind{Resize, Gap}},
		{"a workload by another name", Filter{Workload: workload.Workload{Kind: "App", Name: "shop"}, Aliases: []workload.Workload{{Kind: "Deployment", Name: "web"}}}, []Kind{Resize, Gap}},
		{"another workload", Filter{Workload: workload.Workload{Kind: "StatefulSet", Name: "web"}}, []Kind{Gap}},
		{"a kind", Filter{Kinds: []Kind{Freeze, Hold}}, []Kind{Freeze}},
		{"an author", Filter{Author: "ann"}, []Kind{Gap, Freeze}},
		{"a pod", Filter{Pod: "web-0"}, []Kind{Revert, Gap}},
		{"what ended later", Filter{Since: noon.Add(time.Hour)}, []Kind{Resize}},
		{"what began before", Filter{Until: noon}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []Kind
			for _, e := range []Entry{web, revert, gap, freeze} {
				if tc.filter.Selects(&e) {
					got = append(got, e.Kind)
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

func TestSorted(t *testing.T) {
	old, began := act(Override, "", "change 1", noon.Add(-Age-time.Hour)), act(Hold, "shop", "pause 1", noon)
	seen, done := Ended(began, noon.Add(2*time.Minute), "", ""), Ended(began, noon.Add(time.Minute), "bob", "over")
	segments := []*Segment{
		nil,
		{Class: Acts, Number: 1, Entries: []Entry{old, began, seen}},
		{Class: Resizes, Number: 2, Entries: []Entry{resized("web", noon.Add(time.Second), 1, 2)}},
		{Class: Acts, Number: 3, Entries: []Entry{done}},
	}
	var got []string
	for _, e := range Sorted(segments, noon) {
		got = append(got, fmt.Sprintf("%s %s %s", e.At.Format("15:04:05"), e.Kind, e.Author))
	}
	want := []string{"12:02:00 Hold bob", "12:00:01 Resize workload-resizer", "12:00:00 Hold ann"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSizesText(t *testing.T) {
	for _, tc := range []struct {
		cpu, memory Range
		want        string
	}{
		{Range{500, 1000}, Range{1 << 30, 1 << 30}, "cpu 500m to 1, memory 1Gi"},
		{Range{}, Range{548861636, 548861636}, "memory 523Mi"},
		{Range{}, Range{548861636, 3125315559}, "memory 523Mi to 2981Mi"},
		{Range{}, Range{1000, 1000}, "memory 1k"},
		{Range{}, Range{1e9, 1.5e9}, "memory 1G to 1500M"},
		{Range{}, Range{1e9 + 1000, 1 << 30}, "memory 954Mi to 1Gi"},
		{Range{}, Range{15625 << 20, 15625 << 20}, "memory 15625Mi"},
	} {
		if got := sizesText(tc.cpu, tc.memory); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
