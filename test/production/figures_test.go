package production

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/production/truth"
)

// figures are what production showed, hour by hour.
type figures struct {
	truth *truth.Truth
	// began is when the first hour began, in real time.
	began time.Time
	hours []map[string]shown
	// applies means that ratios follow production, and killed that the leader was killed since the last hour.
	applies, killed bool
	// survived is how often ratios were known when the leader was killed, and still known in the hour after.
	survived int
	faults   []string
}

func newFigures(of *truth.Truth) *figures { return &figures{truth: of, began: time.Now()} }

// note notes what production shows at the end of an hour.
func (f *figures) note(now map[string]shown) {
	for _, of := range f.truth.Types[1:] {
		if n := len(f.hours); n > 0 {
			f.follow(of.Name, f.hours[n-1][of.Name], now[of.Name])
		}
	}
	f.hours, f.killed = append(f.hours, now), false
}

// follow checks what changed of a type in an hour.
func (f *figures) follow(name string, before, now shown) {
	if known := before.GetHours(); f.killed && before.GetRatio() > 0 {
		// A kill loses the current hour, and the one before if that was not stored yet. The oldest hours lose weight.
		if after := now.GetHours(); float64(after) < 0.95*float64(known) {
			f.fault("%s: %d hours were known before the leader was killed, and %d after", name, known, after)
		} else {
			f.survived++
		}
	}
	if !f.applies {
		return
	}
	if moved := math.Abs(math.Log(now.inEffect / before.inEffect)); moved > math.Log1p(step) {
		f.fault("%s: the ratio moved from %v to %v in an hour", name, before.inEffect, now.inEffect)
	}
	if want := f.truth.Ratio(name); distance(now.inEffect, want) > max(distance(before.inEffect, want), near) {
		f.fault("%s: the ratio moved from %v to %v, away from %.4f", name, before.inEffect, now.inEffect, want)
	}
}

func (f *figures) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf("hour %d: ", len(f.hours)+1)+fmt.Sprintf(format, args...))
}

// distance returns how far a ratio is from the truth, as a share.
func distance(ratio, want float64) float64 { return math.Abs(ratio/want - 1) }

// judge checks what production showed.
func (f *figures) judge(t *testing.T) {
	t.Helper()
	hours := len(f.hours)
	last := f.hours[hours-1]
	f.judgeFirst(t)
	for _, of := range f.truth.Types[1:] {
		now, want := last[of.Name], f.truth.Ratio(of.Name)
		switch held := now.GetHolds(); {
		case now.ProductionSuggestion == nil || now.GetRatio() == 0 && len(held) == 0:
			t.Errorf("%s: production says neither a ratio nor why it has none: %v", of.Name, now)
		case hours >= knows && distance(now.GetRatio(), want) > near:
			t.Errorf("%s: production shows %v, the truth is %.4f", of.Name, now.GetRatio(), want)
		case hours >= certain && distance(now.inEffect, want) > near:
			t.Errorf("%s: %v is in effect, the truth is %.4f: %v", of.Name, now.inEffect, want, held)
		}
	}
	if hours >= certain && f.survived == 0 {
		t.Error("no leader was killed while ratios were known")
	}
	for _, fault := range f.faults {
		t.Error(fault)
	}
	t.Logf("shown:%s", f.courses(func(s shown) float64 { return math.Round(1000*s.GetRatio()) / 1000 }))
	t.Logf("in effect:%s", f.courses(func(s shown) float64 { return s.inEffect }))
}

// judgeFirst checks the first ratios that production showed: they are nearly right, as their intervals say, but must not be applied.
func (f *figures) judgeFirst(t *testing.T) {
	t.Helper()
	if len(f.hours) < shows {
		return
	}
	for _, of := range f.truth.Types[1:] {
		now, want := f.hours[shows-1][of.Name], f.truth.Ratio(of.Name)
		if i := now.GetInterval(); distance(now.GetRatio(), want) > nearly || want < i.GetLow() || want > i.GetHigh() {
			t.Errorf("%s: after %d hours, production shows %v (%v), the truth is %.4f: %v", of.Name, shows, now.GetRatio(), i, want, now.GetHolds())
			continue
		}
		t.Logf("%s: after %d hours, production shows %.4f (%+.2f%%)", of.Name, shows, now.GetRatio(), 100*(now.GetRatio()/want-1))
		if !slices.ContainsFunc(now.GetHolds(), func(h *workloadresizerv1.SuggestionHold) bool { return h.GetCode() == "TooFewDays" }) {
			t.Errorf("%s: nothing holds back a ratio after %d hours: %v", of.Name, shows, now.GetHolds())
		}
	}
}

// courses returns the ratios of each type, and from which hour.
func (f *figures) courses(ratio func(shown) float64) string {
	var b strings.Builder
	for _, of := range f.truth.Types[1:] {
		fmt.Fprintf(&b, "\n  %s:", of.Name)
		before := 0.0
		for i, now := range f.hours {
			if is := ratio(now[of.Name]); is != before {
				fmt.Fprintf(&b, " %.4f from hour %d,", is, i+1)
				before = is
			}
		}
	}
	return b.String()
}

// String returns a table of what production shows now.
func (f *figures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %-5s %8s %8s %7s %-18s %9s %5s %6s %9s  %s", "TYPE", "TRUTH", "RATIO", "OFF", "INTERVAL", "WORKLOADS", "NODES", "HOURS", "IN EFFECT", "HELD BACK")
	last := f.hours[len(f.hours)-1]
	for _, of := range f.truth.Types[1:] {
		now, want := last[of.Name], f.truth.Ratio(of.Name)
		ratio, off, interval := "-", "-", "-"
		if now.GetRatio() > 0 {
			ratio, off = fmt.Sprintf("%.4f", now.GetRatio()), fmt.Sprintf("%+.2f%%", 100*(now.GetRatio()/want-1))
			interval = fmt.Sprintf("%.4f to %.4f", now.GetInterval().GetLow(), now.GetInterval().GetHigh())
		}
		var held []string
		for _, h := range now.GetHolds() {
			held = append(held, h.GetCode()+": "+h.GetMessage())
		}
		for _, reason := range slices.Sorted(maps.Keys(now.GetHeldWorkloads())) {
			held = append(held, fmt.Sprintf("%s %d", reason, now.GetHeldWorkloads()[reason]))
		}
		fmt.Fprintf(&b, "\n  %-5s %8.4f %8s %7s %-18s %9d %5d %6d %9.4f  %s", of.Name, want, ratio, off, interval, now.GetWorkloads(), now.GetNodes(), now.GetHours(), now.inEffect, strings.Join(held, "; "))
	}
	return b.String()
}
