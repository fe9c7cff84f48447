package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var start = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// model counts like a Book, and keeps everything.
type model struct {
	at      []time.Time
	seconds []float64
	have    []map[Subject]*Amounts
}

// over returns what a subject had in a time, since it began.
func (m *model) over(of Subject, from, until time.Time) (sum Amounts, known float64) {
	began := false
	for i, at := range m.at {
		if began = began || m.have[i][of] != nil; !began || at.Before(from) || !at.Before(until) {
			continue
		}
		known += m.seconds[i]
		if a := m.have[i][of]; a != nil {
			sum.Add(a, m.seconds[i])
		}
	}
	if known > 0 {
		sum.Scale(1 / known)
	}
	return sum, known
}

// stored returns the book as another process reads it.
func stored(t *testing.T, b *Book) *Book {
	t.Helper()
	next := NewBook()
	for _, of := range b.Subjects() {
		r := b.Of(of)
		closed, err := Parse(r.Closed.Changes())
		if err != nil {
			t.Fatalf("%v: %v", of, err)
		}
		next.Put(of, &Record{Since: r.Since, Late: r.Late, Closed: closed, Open: r.Open, Covered: r.Covered, Mean: FromCodes(r.Mean.Codes())})
	}
	for at, seconds := range b.Known() {
		next.Knew(at, seconds)
	}
	return next
}

// over returns what a subject had in a time.
func over(b *Book, of Subject, from, until, now time.Time) Sum {
	return b.Read([]time.Time{from, until}, now).Over(of, b.Of(of))[0]
}

// TestBook counts what random workloads have, with leaders that end and pauses between them, and compares that with all that was counted.
func TestBook(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		b, m, now := NewBook(), &model{}, start.Add(time.Duration(r.IntN(86_400))*time.Second)
		subjects := []Subject{{}, {Namespace: "shop"}, {Namespace: "bank"}}
		for i := range 6 {
			subjects = append(subjects, Subject{[]string{"shop", "bank"}[i%2], "Deployment", fmt.Sprint(i)})
		}
		have := map[Subject]*Amounts{}
		for range 5 * 24 * 60 {
			pause := time.Minute
			switch r.IntN(500) {
			case 0:
				pause = time.Duration(r.IntN(40)) * time.Hour
			case 1:
				b = stored(t, b)
			}
			now = now.Add(pause)
			next := map[Subject]*Amounts{}
			for _, of := range subjects {
				switch {
				case have[of] != nil && r.IntN(50) > 0:
					next[of] = have[of]
				case of == Subject{} || r.IntN(3) > 0:
					a := &Amounts{Pods: float64(r.IntN(9)), Authored: Resources{float64(r.IntN(1e6)), float64(r.Int64N(1 << 44))}}
					a.Saved, a.SavedCost = Resources{float64(r.IntN(1e6) - 5e5), float64(r.Int64N(1<<44) - 1<<43)}, r.Float64()-0.5
					if r.IntN(3) > 0 {
						a.Priced = 1
					} else {
						a.Unpriced = 1
					}
					next[of] = a
				}
			}
			have = next
			b.Count(now, time.Minute, have)
			m.at, m.seconds, m.have = append(m.at, now), append(m.seconds, 60), append(m.have, have)
		}
		for _, of := range subjects {
			for range 30 {
				from := start.Add(time.Duration(r.Int64N(int64(now.Sub(start)))))
				until := from.Add(time.Duration(r.Int64N(int64(now.Sub(from)) + 1)))
				got := over(b, of, from, until, now.Add(48*time.Hour))
				want, known := m.over(of, got.From, got.Until)
				if math.Abs(got.Known.Seconds()-known) > known/1000+120 {
					t.Fatalf("seed %d: %s is known of %v from %s to %s, want %v s", seed, got.Known, of, got.From, got.Until, known)
				}
				// Amounts of both signs may add up to less than their errors.
				x, y, largest := got.all(), want.all(), [fields]float64{}
				for i := range largest {
					largest[i] = math.Abs(*y[i])
				}
				largest[5], largest[6], largest[8] = 5e5, 1<<43, 0.5
				largest[14], largest[15] = 1, 1 // So may shares, most of which are 0 or 1.
				for i := range x {
					if math.Abs(*x[i]-*y[i]) > largest[i]/200+units[i] {
						t.Fatalf("seed %d: field %d of %v from %s to %s is %v, want %v", seed, i, of, got.From, got.Until, *x[i], *y[i])
					}
				}
			}
		}
	}
}

// TestSteady counts the same for months: that takes no room.
func TestSteady(t *testing.T) {
	b, of := NewBook(), Subject{"shop", "Deployment", "web"}
	have := map[Subject]*Amounts{{}: {Pods: 3, Nodes: 7}, of: {Pods: 3, Authored: Resources{500, 1 << 30}}}
	for i := range 100 * 24 * 6 {
		b.Count(start.Add(time.Duration(i)*10*time.Minute), 10*time.Minute, have)
	}
	for of, most := range map[Subject]int{{}: 20, of: 16} {
		if n := len(b.Of(of).Closed.Changes()); n == 0 || n > most {
			t.Errorf("%v takes %d bytes", of, n)
		}
	}
}

// TestExpire forgets what is older than 90 days, and workloads that ended before that.
func TestExpire(t *testing.T) {
	b := NewBook()
	early, long := Subject{"shop", "Job", "early"}, Subject{"shop", "Deployment", "long"}
	now := start
	for hour := range 100 * 24 {
		have := map[Subject]*Amounts{{}: {Pods: 1 + float64(hour%2)}, long: {Pods: 1 + float64(hour/24)}}
		if hour < 48 {
			have[early] = &Amounts{Pods: 1}
		}
		now = start.Add(time.Duration(hour) * time.Hour)
		b.Count(now, time.Hour, have)
		if left := b.Of(early) != nil; left != (hour < 48+90*24) {
			t.Fatalf("after %d hours, there is a record of a workload that had ended after 48: %t", hour, left)
		}
	}
	for of, most := range map[Subject]int{{}: 91 * 24, long: 91} {
		n := 0
		for _, err := range each(b.Of(of).Closed.Changes()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n < most-2 || n > most+24 {
			t.Errorf("%d changes are kept of %v", n, of)
		}
	}
	if got := over(b, long, now.Add(-85*24*time.Hour), now.Add(-84*24*time.Hour), now); got.Pods < 14 || got.Pods > 17 {
		t.Errorf("85 days ago, %v pods ran", got.Pods)
	}
}

// TestMakesRoom lets a namespace have ever more workloads: those of others are kept.
func TestMakesRoom(t *testing.T) {
	b, now := NewBook(), start
	count := func(have map[Subject]*Amounts) {
		t.Helper()
		have[Subject{}] = &Amounts{Pods: 1}
		now = now.Add(24 * time.Hour)
		b.Count(now, time.Minute, have)
		if n := len(b.Subjects()); n > mostSubjects {
			t.Fatalf("%d records", n)
		}
	}
	ended := Subject{"bank", "Job", "ended"}
	count(map[Subject]*Amounts{ended: {Pods: 1}})
	job := func(i int) Subject { return Subject{"shop", "Job", fmt.Sprint(i)} }
	for i := range 6 {
		have := map[Subject]*Amounts{}
		for j := range mostSubjects / 4 {
			have[job(i*mostSubjects/4+j)] = &Amounts{Pods: 1}
		}
		count(have)
	}
	if b.Of(ended) == nil || b.Of(job(1)) != nil || b.Of(job(mostSubjects)) == nil {
		t.Errorf("ended: %v, first: %v, last: %v", b.Of(ended), b.Of(job(1)), b.Of(job(mostSubjects)))
	}
	have := map[Subject]*Amounts{}
	for i := range mostSubjects + 100 {
		have[job(i)] = &Amounts{Pods: 1}
	}
	count(have)
	if n := len(b.Subjects()); n != mostSubjects {
		t.Errorf("%d records", n)
	}
}

// TestClocks lets clocks be ahead, of another leader and of the same one: what was counted before stays.
func TestClocks(t *testing.T) {
	have := map[Subject]*Amounts{{}: {Pods: 4}}
	for _, ahead := range []time.Duration{5 * time.Hour, 30 * day, 200 * day} {
		for _, restart := range []bool{false, true} {
			b, now := NewBook(), start
			count := func(n int) {
				for range n {
					b.Count(now, time.Hour, have)
					now = now.Add(time.Hour)
				}
			}
			count(48)
			now = now.Add(ahead)
			count(1)
			now = now.Add(-ahead - time.Hour)
			if restart {
				b = stored(t, b)
			}
			count(10)
			b = stored(t, b)
			if got := over(b, Subject{}, start, now, now); math.Abs(got.Pods-4) > 0.02 || math.Abs(got.Known.Hours()-58) > 1 {
				t.Errorf("%s ahead, restart %t: %+v", ahead, restart, got)
			}
		}
	}
}

// TestPause counts again after nobody did for longer than is kept.
func TestPause(t *testing.T) {
	b, now, of := NewBook(), start, Subject{"shop", "Deployment", "web"}
	for i := range 30 {
		b.Count(now, time.Hour, map[Subject]*Amounts{{}: {Pods: float64(i)}, of: {Pods: 1}})
		now = now.Add(time.Hour)
	}
	b = stored(t, b)
	now = now.Add(95 * day)
	for range 50 {
		b.Count(now, time.Hour, map[Subject]*Amounts{{}: {Pods: 7}, of: {Pods: 2}})
		now = now.Add(time.Hour)
	}
	b = stored(t, b)
	if got := over(b, of, now.Add(-2*day), now, now); math.Abs(got.Pods-2) > 0.02 {
		t.Errorf("%+v", got)
	}
}

// TestDamagedRecords puts what cannot be.
func TestDamagedRecords(t *testing.T) {
	for name, r := range map[string]*Record{
		"no number":         {Open: slotOf(start, hour), Covered: math.NaN(), Mean: Amounts{Pods: 1}},
		"more than an hour": {Open: slotOf(start, hour), Covered: 1e9, Mean: Amounts{Pods: 1}},
		"the far future":    {Open: math.MaxInt64, Covered: 60, Mean: Amounts{Pods: 1}},
		"before time":       {Open: math.MinInt64, Covered: 60, Mean: Amounts{Pods: 1}},
		"no open slot":      {Closed: Series{last: slotOf(start, hour), codes: codes{1}}, Open: 3, Covered: 60, Mean: Amounts{Pods: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBook()
			b.Put(Subject{}, r)
			b.Count(start.Add(time.Hour), time.Minute, map[Subject]*Amounts{{}: {Pods: 5}})
			if got := over(b, Subject{}, start.Add(time.Hour), start.Add(2*time.Hour), start.Add(time.Hour)); math.Abs(got.Pods-5) > 0.02 || got.Known != time.Minute {
				t.Errorf("%+v", got)
			}
		})
	}
}

// FuzzParse reads bytes that are no series.
func FuzzParse(f *testing.F) {
	b := NewBook()
	for i := range 50 {
		b.Count(start.Add(time.Duration(i)*time.Hour), time.Hour, map[Subject]*Amounts{{}: {Pods: float64(i)}})
	}
	f.Add(b.Of(Subject{}).Closed.Changes())
	f.Add([]byte{1, 1, 0})
	f.Fuzz(func(t *testing.T, changes []byte) {
		s, err := Parse(changes)
		if err != nil {
			return
		}
		same, _ := Parse(changes)
		if same.Cut(s.last + 1); string(same.changes) != string(changes) && len(same.changes) > len(changes) {
			t.Errorf("%x became %x", changes, same.changes)
		}
		if same.Forget(s.last); same.codes != s.codes {
			t.Errorf("%v became %v", s.codes, same.codes)
		}
	})
}

// few returns what a workload has that is as large as a number says.
func few(n float64) *Amounts {
	return &Amounts{
		Pods: n, Authored: Resources{1000 * n, n * (1 << 30)}, Saved: Resources{300 * n, n * (1 << 29)}, Unmeasured: Resources{10 * n, n * (1 << 20)}, Used: Resources{321 * n, n * (1 << 27)},
		AuthoredCost: n / 30, SavedCost: n / 100, Priced: 1,
	}
}

// TestSaved counts a cluster that frees little of much.
func TestSaved(t *testing.T) {
	for _, freed := range []float64{-7_000, 5_000, 20_000} {
		b, now := NewBook(), start
		for range 3 * 60 {
			b.Count(now, time.Minute, map[Subject]*Amounts{{}: {Authored: Resources{10_000_000, 1}, Saved: Resources{freed, 1}}})
			now = now.Add(time.Minute)
		}
		got := over(b, Subject{}, start, start.Add(2*time.Hour), now)
		if math.Abs(got.Saved.CPU-freed) > math.Abs(freed)/200 || math.Abs(got.Requested().CPU-10_000_000+freed) > 30_000 {
			t.Errorf("freed %v, shown %v", freed, got.Saved.CPU)
		}
	}
}

// TestBehind reads a book, and counts, with clocks that are behind: for seconds at midnight, or by days once.
func TestBehind(t *testing.T) {
	of := Subject{"shop", "Deployment", "web"}
	have := map[Subject]*Amounts{{}: {Pods: 10}, of: {Pods: 10}}
	for _, behind := range []time.Duration{25 * time.Second, 50 * time.Minute, 9 * day} {
		b, now := NewBook(), start.Add(-10*day)
		for ; now.Before(start.Add(40 * time.Second)); now = now.Add(time.Minute) {
			b.Count(now, time.Minute, have)
		}
		b = stored(t, b)
		b.Count(now.Add(-behind), time.Minute, have)
		for range 70 {
			b.Count(now, time.Minute, have)
			now = now.Add(time.Minute)
		}
		for _, of := range []Subject{{}, of} {
			if got := over(b, of, start.Add(-10*day), now, now); math.Abs(got.Pods-10) > 0.1 || got.Known < 10*day {
				t.Errorf("%s behind: %v had %v pods, known for %s", behind, of, got.Pods, got.Known)
			}
		}
	}
	b, now := NewBook(), start
	for range 60 * 24 {
		b.Count(now, time.Hour, have)
		now = now.Add(time.Hour)
	}
	b.Count(now.Add(-59*day), time.Minute, have)
	b.Count(now, time.Minute, have)
	if got := over(b, of, start, now, now); got.Known < 59*day {
		t.Errorf("after one count 59 days ago, %s are known", got.Known)
	}
}

// TestAhead counts with a clock that is ahead for two counts, on both sides of an hour, or counts and stops: then another process reads that.
func TestAhead(t *testing.T) {
	of := Subject{"shop", "Deployment", "web"}
	have := map[Subject]*Amounts{{}: {Pods: 10}, of: {Pods: 10}}
	for _, ahead := range []time.Duration{40 * time.Minute, day, 200 * day} {
		for _, restart := range []bool{false, true} {
			b, now := NewBook(), start.Add(30*time.Minute)
			count := func(n int) {
				for range n {
					b.Count(now, time.Minute, have)
					now = now.Add(time.Minute)
				}
			}
			count(47 * 60)
			last := now.Add(ahead).Truncate(time.Hour).Add(-30 * time.Second)
			b.Count(last, time.Minute, have)
			b.Count(last.Add(time.Minute), time.Minute, have)
			if restart {
				b = stored(t, b)
			}
			count(3 * 60)
			for _, of := range []Subject{{}, of} {
				// An hour is lost until it is clear which clock is wrong.
				if got := over(b, of, start, now, now); math.Abs(got.Pods-10) > 0.1 || got.Known < 48*time.Hour || got.Known > 50*time.Hour+time.Minute {
					t.Errorf("%s ahead, restart %t: %v had %v pods, known for %s", ahead, restart, of, got.Pods, got.Known)
				}
			}
		}
	}
}

// TestMissed stores a record long before others of the same slot: the slot is unknown then.
func TestMissed(t *testing.T) {
	of := Subject{"shop", "Deployment", "web"}
	b, now := NewBook(), start
	for range 60 {
		b.Count(now, time.Minute, map[Subject]*Amounts{{}: {Pods: 1}, of: {Pods: 10}})
		now = now.Add(time.Minute)
	}
	b = stored(t, b)
	for h := range Slot(20) {
		b.Knew(slotOf(start, hour)+h, 3600)
	}
	now = start.Add(day + time.Minute)
	b.Count(now, time.Minute, map[Subject]*Amounts{of: {Pods: 4}})
	if got := over(b, of, start, now, now); math.Abs(got.Pods-4) > 0.1 || got.Known != time.Minute {
		t.Errorf("%+v", got)
	}
}

// TestLeap checks that a book compares what clocks show, and not how much time has passed: a clock that leaps shows only in that.
func TestLeap(t *testing.T) {
	b := NewBook()
	if b.Count(time.Now(), time.Minute, nil); b.counted.IsZero() || b.counted != b.counted.Round(0) {
		t.Error("it compares how much time has passed")
	}
}

// TestReplace reads an hour of a clock that was ahead, and then what was stored later with the right one.
func TestReplace(t *testing.T) {
	of := func(hours ...Slot) *Book {
		b := NewBook()
		for _, at := range hours {
			b.Knew(slotOf(start, hour)+at, 60)
		}
		return b
	}
	b, none := of(0), func(Subject) bool { return false }
	b.Replace(of(48), none)
	b.Replace(of(0, 1), none)
	if n := b.newest(); n != slotOf(start, hour)+1 || len(b.Known()) != 2 {
		t.Errorf("%v are known", b.Known())
	}
}

// TestLate counts for longer than an hour has.
func TestLate(t *testing.T) {
	b := NewBook()
	b.Count(start.Add(-30*time.Second), time.Minute, map[Subject]*Amounts{{}: {}})
	for at := start.Add(30 * time.Second); at.Before(start.Add(time.Hour)); at = at.Add(time.Minute) {
		b.Count(at, 61*time.Second, map[Subject]*Amounts{{}: {Pods: 10}})
	}
	b = stored(t, b)
	b.Count(start.Add(61*time.Minute), time.Minute, map[Subject]*Amounts{{}: {Pods: 10}})
	if got := over(b, Subject{}, start, start.Add(time.Hour), start.Add(61*time.Minute)); math.Abs(got.Pods-10) > 0.1 || got.Known != time.Hour {
		t.Errorf("%+v", got)
	}
}

// TestBegins lets a workload begin, or be new to a book that lost it: nothing is known of the days before.
func TestBegins(t *testing.T) {
	b, now, of := NewBook(), start, Subject{"shop", "Deployment", "web"}
	count := func(n int, have map[Subject]*Amounts) {
		for range n {
			b.Count(now, time.Hour, have)
			now = now.Add(time.Hour)
		}
	}
	count(3*24, map[Subject]*Amounts{{}: {Pods: 1}})
	count(36, map[Subject]*Amounts{{}: {Pods: 1}, of: {Pods: 4}})
	if got := over(b, of, start, now, now); math.Abs(got.Pods-4) > 0.1 || got.Known != 36*time.Hour {
		t.Errorf("%+v", got)
	}
	count(36, map[Subject]*Amounts{{}: {Pods: 1}})
	if got := over(b, of, start, now, now); math.Abs(got.Pods-2) > 0.1 || got.Known != 72*time.Hour {
		t.Errorf("after it has ended: %+v", got)
	}
}

// TestFollower reads records that were stored at different times: of each, only so much is known.
func TestFollower(t *testing.T) {
	b, now, of := NewBook(), start.Add(30*time.Minute), Subject{Namespace: "shop"}
	have := map[Subject]*Amounts{{}: {Pods: 10}, of: {Pods: 10}}
	var before *Book
	for i := range 60 {
		b.Count(now, time.Minute, have)
		if now = now.Add(time.Minute); i == 20 {
			before = stored(t, b)
		}
	}
	follower := stored(t, b)
	follower.Replace(before, func(s Subject) bool { return s == of })
	if got := over(follower, of, start, now, now); math.Abs(got.Pods-10) > 0.1 || got.Known != 21*time.Minute {
		t.Errorf("%+v", got)
	}
	if got := over(follower, of, start.Add(time.Hour), now, now); got.Known != 0 {
		t.Errorf("of an hour that had not begun: %+v", got)
	}
	// It leads hours later. Another shard has been stored until then.
	for h := range 5 {
		follower.Knew(slotOf(start, hour)+Slot(2+h), 3600)
	}
	now = start.Add(7*time.Hour + time.Minute)
	have[of] = &Amounts{Pods: 20}
	for range 60 {
		follower.Count(now, time.Minute, have)
		now = now.Add(time.Minute)
	}
	if got := over(follower, of, start, now, now); math.Abs(got.Pods-20) > 4 || got.Known > 95*time.Minute {
		t.Errorf("after it leads: %+v", got)
	}
	var total Total
	for _, of := range []Subject{{}, of} {
		sum := over(follower, of, start.Add(7*time.Hour), now, now)
		total.Add(&sum)
	}
	if got := total.End(); math.Abs(got.Pods-30) > 0.2 || got.Known < time.Hour {
		t.Errorf("in total: %+v", got)
	}
}

// TestPrices counts a workload with pods that have prices for a part of the time, and reads what earlier versions stored.
func TestPrices(t *testing.T) {
	of := Subject{"shop", "Deployment", "web"}
	asked := Resources{1000, 1 << 30}
	for _, tc := range []struct {
		name string
		have []*Amounts // of each quarter of a day
		want float64
	}{
		{"with prices", []*Amounts{{Authored: asked, AuthoredCost: 2, Priced: 1}}, 1},
		{"with prices that are 0", []*Amounts{{Authored: asked, Priced: 1}}, 1},
		{"without prices", []*Amounts{{Authored: asked, Unpriced: 1}}, 0},
		{"with prices for a quarter of it", []*Amounts{{Authored: asked, Unpriced: 1}, {Authored: asked, Unpriced: 1}, {Authored: asked, Unpriced: 1}, {Authored: asked, AuthoredCost: 2, Priced: 1}}, 0.25},
		{"with prices, and pods for half of it", []*Amounts{{Authored: asked, Priced: 1}, nil, nil, {Authored: asked, Priced: 1}}, 1},
		{"with prices for half of the time with pods", []*Amounts{{Authored: asked, Priced: 1}, nil, nil, {Authored: asked, Unpriced: 1}}, 0.5},
		{"of an earlier version with prices", []*Amounts{{Authored: asked, AuthoredCost: 2}}, 1},
		{"of an earlier version, of what is only saved", []*Amounts{{Authored: asked, SavedCost: -2}}, 1},
		{"of an earlier version without prices", []*Amounts{{Authored: asked}}, 0},
		{"of an earlier version without requests", []*Amounts{{Pods: 1}}, 1},
	} {
		b, now := NewBook(), start
		for minute := range 2 * 24 * 60 { // The second day is open.
			now = start.Add(time.Duration(minute) * time.Minute)
			have := map[Subject]*Amounts{{}: {Pods: 1}}
			if a := tc.have[minute*len(tc.have)/(24*60)%len(tc.have)]; a != nil {
				have[of] = a
			}
			b.Count(now, time.Minute, have)
		}
		for _, b := range []*Book{b, stored(t, b)} {
			for day := range 2 {
				from := start.AddDate(0, 0, day)
				got := over(b, of, from, from.AddDate(0, 0, 1), now)
				if math.Abs(got.HadPrices()-tc.want) > tc.want/100 {
					t.Errorf("%s: %v on day %d, want %v", tc.name, got.HadPrices(), day, tc.want)
				}
			}
		}
	}
}

// TestTotal adds up what is known for different times.
func TestTotal(t *testing.T) {
	var total Total
	for _, of := range []Sum{
		{Known: 10 * time.Hour, Amounts: Amounts{Pods: 8, Priced: 0.2, Unpriced: 0.3}},
		{Known: 5 * time.Hour, Amounts: Amounts{Pods: 4, Unpriced: 1}},             // Not read as far.
		{Known: 2 * time.Hour, Begins: true, Amounts: Amounts{Pods: 5, Priced: 1}}, // It had none before.
	} {
		total.Add(&of)
	}
	if got := total.End(); math.Abs(got.Pods-13) > 1e-9 || got.Known != 10*time.Hour || math.Abs(got.Priced-0.2) > 1e-9 || math.Abs(got.Unpriced-0.5) > 1e-9 {
		t.Errorf("%+v", got)
	}
}

// TestEndedNamespaces lets namespaces come and go, and workloads be without pods for a while: what runs keeps its record.
func TestEndedNamespaces(t *testing.T) {
	b, now := NewBook(), start
	b.most = 50
	web, jobs := Subject{"shop", "Deployment", "web"}, []Subject{{"shop", "CronJob", "a"}, {"shop", "CronJob", "b"}}
	for i := range 500 {
		have := map[Subject]*Amounts{{}: {Pods: 2}, {Namespace: "shop"}: {Pods: 1}, web: {Pods: 1}, {Namespace: fmt.Sprint("build-", i)}: {Pods: 1}}
		if i%5 > 0 {
			have[jobs[i%2]] = &Amounts{Pods: 1}
		}
		if i%100 == 99 {
			delete(have, web)
		}
		now = now.Add(time.Hour)
		b.Count(now, time.Hour, have)
		if n := len(b.Subjects()); n > b.most {
			t.Fatalf("%d records", n)
		}
	}
	for _, of := range []Subject{{}, web, jobs[0], jobs[1]} {
		if got := over(b, of, start, now, now); got.Known < 495*time.Hour {
			t.Errorf("%v is known for %s", of, got.Known)
		}
	}
}

// TestFair lets a namespace have ever more workloads that run: others have room, and those that have it keep it.
func TestFair(t *testing.T) {
	b, now := NewBook(), start
	b.most = 100
	have := map[Subject]*Amounts{{}: {Pods: 1}, {Namespace: "big"}: {Pods: 1}}
	count := func() {
		now = now.Add(time.Minute)
		b.Count(now, time.Minute, have)
		if n := len(b.Subjects()); n > b.most {
			t.Errorf("%d records", n)
		}
	}
	big := func(i int) Subject { return Subject{"big", "Deployment", fmt.Sprintf("%03d", i)} }
	for i := range 200 {
		have[big(i)] = few(1)
	}
	count()
	if n := b.Without(); n != 102 {
		t.Errorf("%d have no room", n)
	}
	for i := range 40 {
		have[Subject{"small", "Deployment", fmt.Sprint(i)}] = few(1)
	}
	have[Subject{Namespace: "small"}] = few(40)
	count()
	for of := range have {
		if r := b.Of(of); of.Namespace != "big" && r == nil {
			t.Errorf("%v has no record", of)
		}
	}
	kept := b.Subjects()
	count()
	if again := b.Subjects(); !slices.Equal(again, kept) || b.Without() == 0 {
		t.Errorf("%v became %v", kept, again)
	}
}

// TestBytes lets a book become too large: the oldest slots are forgotten, of all alike, and are then not known.
func TestBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b, now, of := NewBook(), start, Subject{"shop", "Deployment", "web"}
	b.bytes = 30_000
	for range 85 * 24 {
		have := map[Subject]*Amounts{{}: {Pods: 10}, of: few(3)}
		for n := range 5 {
			have[Subject{Namespace: fmt.Sprint(n)}] = few(10 + r.Float64()*5)
		}
		b.Count(now, time.Hour, have)
		now = now.Add(time.Hour)
	}
	bytes := 0
	for _, r := range b.records {
		bytes += len(r.Closed.changes)
	}
	if bytes > b.bytes+b.bytes/50 || bytes < b.bytes/2 {
		t.Errorf("%d bytes", bytes)
	}
	for _, of := range []Subject{{}, {Namespace: "1"}, of} {
		early, all := over(b, of, start, start.Add(20*day), now), over(b, of, start, now, now)
		if early.Known != 0 || all.Known < 5*day || all.Known > 80*day || all.Pods < 2.9 {
			t.Errorf("%v: %s of the first days are known, %s of all, %v pods", of, early.Known, all.Known, all.Pods)
		}
	}
}
