package compare

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestUsage(t *testing.T) {
	t.Run("repeated samples do not count twice", repeatedSamplesDoNotCountTwice)
	t.Run("a sample counts in the hours in which it was measured", aSampleCountsInTheHoursInWhichItWasMeasured)
	t.Run("short samples of each slot are enough", shortSamplesOfEachSlotAreEnough)
	t.Run("samples that mislead do not count", samplesThatMisleadDoNotCount)
	t.Run("samples that arrive late count", samplesThatArriveLateCount)
	t.Run("is bounded", isBounded)
	t.Run("a clock that leaps loses hours only", aClockThatLeapsLosesHoursOnly)
	t.Run("evidence from the future does not stop the present", evidenceFromTheFutureDoesNotStopThePresent)
}

func repeatedSamplesDoNotCountTwice(t *testing.T) {
	w := newWorld(t)
	for range 65 {
		w.pass(1)
		w.measure(w.now.Add(-time.Minute))
		w.measure(w.now)
		// Another source measures the same minutes, and only it knows of limits.
		w.cores["web-3"], w.throttled["web-3"] = 5, 0.5
		w.measure(w.now.Add(-20 * time.Second))
		w.cores["web-3"], w.throttled["web-3"] = 0.8, 0
	}
	if r := w.on("node-3"); !near(r.CPU, 0.8, 1e-3) || !r.Throttled {
		t.Errorf("%+v", r)
	}
	if h := w.usages[w.key(w.pods["web-3"], "app")].hours[w.open%2]; !near(float64(h.seconds), 3600, 1) {
		t.Errorf("%v seconds", h.seconds)
	}
}

// take takes a sample of web-0 that ends after the beginning of the first hour.
func (w *world) take(after, length time.Duration, cores float64) {
	w.Take(w.pods["web-0"], "app", &Sample{At: began.Add(-time.Hour + after), Length: length, Cores: cores}, w.now)
}

// sums returns the sums of web-0 in the first hour and the next one.
func (w *world) sums() (now, next sums) {
	u := w.usages[w.key(w.pods["web-0"], "app")]
	return u.hours[(first-1)%2], u.hours[first%2]
}

func aSampleCountsInTheHoursInWhichItWasMeasured(t *testing.T) {
	w := newWorld(t)
	w.now = began.Add(4 * time.Minute)
	w.open = first - 1
	w.take(64*time.Minute, 10*time.Minute, 1)
	now, next := w.sums()
	if now.cores != 360 || now.covered != 1<<10|1<<11 || next.cores != 240 || next.covered != 1 {
		t.Errorf("%+v and %+v", now, next)
	}
	w = newWorld(t)
	w.now, w.open = began, first-1
	w.take(time.Hour, time.Minute, 1)
	if now, next := w.sums(); now.covered != 1<<11 || next.covered != 0 || next.cores != 0 {
		t.Errorf("a sample that ends with the hour: %+v and %+v", now, next)
	}
	w = newWorld(t)
	w.now, w.open = began.Add(6*time.Minute), first
	w.take(65*time.Minute, 10*time.Minute, 1)
	if later, now := w.sums(); later != (sums{}) || now.cores != 300 {
		t.Errorf("a sample that began in an hour that is folded: %+v, and %+v in the hour after", now, later)
	}
}

func shortSamplesOfEachSlotAreEnough(t *testing.T) {
	w := newWorld(t)
	for minute := range 61 {
		w.now = began.Add(time.Duration(minute-60) * time.Minute)
		if minute > 5 && minute%4 == 0 {
			w.take(time.Duration(minute)*time.Minute, 15*time.Second, float64(minute)/1000)
		}
	}
	if r := w.on("node-0"); !r.Whole || !near(r.CPU, 0.034, 1e-6) {
		t.Errorf("%+v", r)
	}
}

func samplesThatMisleadDoNotCount(t *testing.T) {
	for name, take := range map[string]func(w *world){
		"without length":    func(w *world) { w.take(30*time.Minute, 0, 1) },
		"too long":          func(w *world) { w.take(30*time.Minute, 16*time.Minute, 1) },
		"negative":          func(w *world) { w.take(30*time.Minute, time.Minute, -1) },
		"from the future":   func(w *world) { w.take(32*time.Minute, time.Minute, 1) },
		"of an hour before": func(w *world) { w.take(0, time.Minute, 1) },
		"of an init container": func(w *world) {
			w.change("web-0", func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{{Name: "init"}} })
			w.Take(w.pods["web-0"], "init", &Sample{At: w.now, Length: time.Minute}, w.now)
		},
		"of no container of it": func(w *world) { w.Take(w.pods["web-0"], "debug", &Sample{At: w.now, Length: time.Minute}, w.now) },
	} {
		w := newWorld(t)
		w.now = began.Add(-30 * time.Minute)
		if take(w); len(w.usages) != 0 {
			t.Errorf("%s: %+v", name, w.usages)
		}
	}
}

func isBounded(t *testing.T) {
	w := newWorld(t)
	w.most = 3
	w.pass(3)
	if n := len(w.usages); n != 3 {
		t.Errorf("%d containers", n)
	}
	if r := w.on("node-0"); !near(r.CPU, 1, 1e-6) {
		t.Errorf("one that was known: %+v", r)
	}
	if r := w.on("node-3"); r.CPU != 0 || r.Whole {
		t.Errorf("one without room: %+v", r)
	}
}

func samplesThatArriveLateCount(t *testing.T) {
	w := newWorld(t)
	w.pass(50)
	w.now = w.now.Add(10 * time.Minute)
	w.fold()
	for minute := range 9 {
		w.now = w.now.Add(time.Minute)
		w.fold()
		w.measure(began.Add(time.Duration(minute-9) * time.Minute))
	}
	w.pass(1)
	if n, mean := w.hours(); n != 1 || !near(mean, math.Log(0.8), 1e-6) {
		t.Errorf("%v hours, %v", n, mean)
	}
}

// newGrowing returns a world whose load grows, so that each hour is in the upper half.
func newGrowing(t *testing.T) *world {
	w := newWorld(t)
	w.growth = 1.25
	return w
}

func aClockThatLeapsLosesHoursOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		by   time.Duration
		lost float64
	}{
		"a second back": {-time.Second, 0}, "two minutes back": {-2 * time.Minute, 1}, "half an hour back": {-30 * time.Minute, 1}, "a day back": {-24 * time.Hour, 2},
		"half an hour ahead": {30 * time.Minute, 1}, "90 minutes ahead": {90 * time.Minute, 2}, "a day ahead": {24 * time.Hour, 2}, "a year ahead": {365 * 24 * time.Hour, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newGrowing(t)
			w.pass(3*60 + 15)
			n, _ := w.hours()
			if !near(n, 3, 0.01) {
				t.Fatalf("%v hours count", n)
			}
			// The clock of this process leaps for ten minutes, and those of the nodes do not.
			for range 10 {
				w.now = w.now.Add(time.Minute)
				is := w.now
				w.now = is.Add(tc.by)
				w.measure(is)
				w.fold()
				w.now = is
			}
			w.pass(4*60 - 15)
			if n, mean := w.hours(); n > 7.01 || n < 7-tc.lost-0.03 || !near(mean, math.Log(0.8), 1e-3) {
				t.Errorf("%v hours count, %v", n, mean)
			}
		})
	}
}

func evidenceFromTheFutureDoesNotStopThePresent(t *testing.T) {
	w := newGrowing(t)
	w.pass(80)
	e := w.Evidence()
	for _, of := range e.Workloads {
		of.Last += 30 * 24
	}
	w.mu.Lock()
	w.evidence = e
	w.mu.Unlock()
	w.pass(3 * 60)
	if n, _ := w.hours(); n < 2.9 {
		t.Errorf("%v hours count", n)
	}
}

func TestStored(t *testing.T) {
	t.Run("is read again in parts", isReadAgainInParts)
	t.Run("what cannot be read changes nothing", whatCannotBeReadChangesNothing)
	t.Run("says what is missing", saysWhatIsMissing)
}

// part selects one of two parts.
func part(i uint64) func(uint64) bool { return func(hash uint64) bool { return hash%2 == i } }

func isReadAgainInParts(t *testing.T) {
	w := newGrowing(t)
	w.pass(3*60 + 15)
	n, mean := w.hours()
	other := newGrowing(t)
	for i := range uint64(2) {
		if b := w.Pack(part(i)); b != nil {
			if err := other.Restore(b, part(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, gotMean := other.hours(); !near(got, n, 0.03*n) || !near(gotMean, mean, 0.01) || n == 0 {
		t.Errorf("%v hours, %v, want %v and %v", got, gotMean, n, mean)
	}
	if e := other.Evidence(); len(e.Nodes) != 4 {
		t.Errorf("%d nodes", len(e.Nodes))
	}
	if !bytes.Equal(w.Pack(part(0)), w.Pack(part(0))) || !bytes.Equal(w.Pack(part(1)), w.Pack(part(1))) {
		t.Error("the same evidence is packed in different ways")
	}
	// It goes on where the other one stopped.
	other.now = w.now
	other.pass(2*60 - 5)
	if got, _ := other.hours(); !near(got, n+1, 0.03*n) {
		t.Errorf("%v hours", got)
	}
	if b := New(time.Minute).Pack(part(0)); b != nil {
		t.Errorf("%d bytes of nothing", len(b))
	}
}

func whatCannotBeReadChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.pass(75)
	n, _ := w.hours()
	good := w.Pack(func(uint64) bool { return true })
	for name, b := range map[string][]byte{"a later version": append([]byte{200}, good[1:]...), "half": good[:len(good)/2], "nothing": {}} {
		if err := w.Restore(b, part(0)); err == nil {
			t.Errorf("%s can be read", name)
		}
	}
	if got, _ := w.hours(); got != n || n == 0 {
		t.Errorf("%v hours, want %v", got, n)
	}
}

func saysWhatIsMissing(t *testing.T) {
	c := New(time.Minute)
	if err := c.Missing(); err == nil || !strings.Contains(err.Error(), "not been read yet") {
		t.Errorf("%v", err)
	}
	for _, missing := range []error{nil, errors.New("a"), nil} {
		c.Read(missing)
		if err := c.Missing(); !errors.Is(err, missing) {
			t.Errorf("%v", err)
		}
	}
}
