package pace

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// start is the end of a window.
var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

var nearly = cmpopts.EquateApprox(1e-12, 0)

// good returns an estimate for a ratio that is 1 without benchmarks.
func good(estimate float64) Input { return Input{Baseline: "n2d", Estimate: estimate, Below: 1} }

func goodOver(below, estimate float64) Input {
	return Input{Baseline: "n2d", Estimate: estimate, Below: below}
}

// within returns an estimate with a confidence interval.
func within(estimate, low, high float64) Input {
	return Input{Baseline: "n2d", Estimate: estimate, Low: low, High: high, Below: 1}
}

// none stands for too few measurements, held for measurements that disagree.
var (
	none = Input{Baseline: "n2d", Below: 1}
	held = Input{Baseline: "n2d", Estimate: 1.9, HeldBack: true, Below: 1}
)

func TestPace(t *testing.T) {
	t.Run("a ratio follows its estimates", aRatioFollowsItsEstimates)
	t.Run("a changed baseline resets the state", aChangedBaselineResetsTheState)
	t.Run("a moving state without confirmations is confirmed first", aMovingStateWithoutConfirmationsIsConfirmedFirst)
	t.Run("returns the target of a ratio", returnsTheTargetOfARatio)
	t.Run("a state is empty when there is nothing to remember", aStateIsEmptyWhenThereIsNothingToRemember)
	t.Run("a state survives JSON", aStateSurvivesJSON)
}

func aRatioFollowsItsEstimates(t *testing.T) {
	in := func(inputs ...Input) []Input { return inputs }
	is := func(ratios ...float64) []float64 { return ratios }
	three := Defaults()
	three.Windows = 3
	for _, tc := range []struct {
		name     string
		settings Settings
		from     float64 // 0 means no ratio yet.
		inputs   []Input
		want     []float64
	}{
		{"a difference up to the dead band changes nothing", Defaults(), 1, in(good(1.05), good(1.05), good(1.05), good(0.95), good(0.95), good(0.95)), is(1, 1, 1, 1, 1, 1)},
		{"a larger difference moves the ratio after it is confirmed", Defaults(), 1, in(good(1.06), good(1.06)), is(1, 1.06)},
		{"moves no faster than a step per window", Defaults(), 1, in(good(1.25), good(1.25), good(1.25), good(1.25), good(1.25)), is(1, 1.1, 1.21, 1.25, 1.25)},
		{"moves down as fast as up", Defaults(), 1.25, in(good(1), good(1), good(1), good(1), good(1)), is(1.25, 1.25/1.1, 1.25/1.21, 1, 1)},
		{"waits for the configured number of windows", three, 1, in(good(1.06), good(1.06), good(1.06)), is(1, 1, 1.06)},
		{"an estimate within the dead band resets the count", Defaults(), 1, in(good(1.2), good(1.01), good(1.2), good(1.1)), is(1, 1, 1, 1.1)},
		{"the other direction resets the count", Defaults(), 1, in(good(1.1), good(0.9), good(1.1), good(0.9), good(0.9)), is(1, 1, 1, 1, 1/1.1)},
		{"while the ratio moves, the target follows the estimate", Defaults(), 1, in(good(1.5), good(1.5), good(1.2), good(1.3), good(1.3)), is(1, 1.1, 1.2, 1.2, 1.3)},
		{"a moving ratio continues into the dead band up to the target", Defaults(), 1, in(good(1.12), good(1.12), good(1.12)), is(1, 1.1, 1.12)},
		{"a target slightly behind the ratio stops it", Defaults(), 1, in(good(1.5), good(1.5), good(1.08), good(1.08), good(1.08)), is(1, 1.1, 1.1, 1.1, 1.1)},
		{"a target far behind the ratio must be confirmed again", Defaults(), 1, in(good(1.5), good(1.5), good(0.9), good(0.9), good(0.9), good(0.9)), is(1, 1.1, 1.1, 1, 1/1.1, 0.9)},
		{"a ratio stops at its target", Defaults(), 1, in(good(1.06), good(1.06), good(1.1), good(1.1)), is(1, 1.06, 1.06, 1.06)},
		{"targets are clamped", Defaults(), 1.9, in(good(9), good(9), good(9)), is(1.9, 2, 2)},
		{"targets are clamped to the minimum, too", Defaults(), 0.55, in(good(0.1), good(0.1), good(0.1)), is(0.55, 0.5, 0.5)},

		{"an interval that contains the ratio moves nothing", Defaults(), 1, in(within(1.2, 0.99, 1.4), within(1.2, 0.99, 1.4), within(0.8, 0.7, 1), within(0.8, 0.7, 1)), is(1, 1, 1, 1)},
		{"an interval that excludes the ratio moves it to the target", Defaults(), 1, in(within(1.2, 1.01, 1.4), within(1.2, 1.01, 1.4), within(1.2, 1.01, 1.4)), is(1, 1.1, 1.2)},
		{"an interval that contains the other ratio starts nothing", Defaults(), 0, in(within(1.2, 0.9, 1.5), within(1.2, 0.9, 1.5), within(1.2, 0.9, 1.5)), is(0, 0, 0)},

		{"starts from the ratio without benchmarks", Defaults(), 0, in(goodOver(1.3, 1.08), goodOver(1.3, 1.08), goodOver(1.3, 1.08)), is(0, 1.3/1.1, 1.08)},
		{"starts from a ratio outside of the clamp, too", Defaults(), 0, in(goodOver(3, 1.9), goodOver(3, 1.9)), is(0, 3/1.1)},
		{"does not start if the target is within the dead band", Defaults(), 0, in(goodOver(1.1, 1.08), goodOver(1.1, 1.08), goodOver(1.1, 1.08)), is(0, 0, 0)},
		{"does not start without an estimate", Defaults(), 0, in(none, none, none), is(0, 0, 0)},
		{"does not start with an estimate that is held back", Defaults(), 0, in(held, held, held), is(0, 0, 0)},
		{"an invalid ratio without benchmarks counts as 1", Defaults(), 0, in(goodOver(0, 1.2), goodOver(-1, 1.2), goodOver(math.NaN(), 1.2)), is(0, 1.1, 1.2)},

		{"an estimate that is held back leaves the ratio unchanged", Defaults(), 1.25, in(held, held, held), is(1.25, 1.25, 1.25)},
		{"an estimate that is held back stops a moving ratio and resets the count", Defaults(), 1, in(good(1.5), good(1.5), held, good(1.5), good(1.5)), is(1, 1.1, 1.1, 1.1, 1.21)},
		{"an estimate that is held back stops an ending ratio", Defaults(), 1.25, in(none, none, held, none, none), is(1.25, 1.25/1.1, 1.25/1.1, 1.25/1.1, 1.25/1.21)},

		{"without an estimate, the ratio returns and ends", Defaults(), 1.2, in(none, none, none, none), is(1.2, 1.2/1.1, 1, 0)},
		{"the end must be confirmed, too", Defaults(), 1.2, in(none, good(1.2), none, good(1.2), none), is(1.2, 1.2, 1.2, 1.2, 1.2)},
		{"ends within the dead band, too", Defaults(), 1.02, in(none, none, none), is(1.02, 1, 0)},
		{"ends only where the ratio without benchmarks still is", Defaults(), 1.05, in(none, none, goodOver(1.08, 0), goodOver(1.08, 0), goodOver(1.08, 0)), is(1.05, 1, 1, 1.08, 0)},
		{"ends without a move if it is at the target", Defaults(), 1, in(none, none), is(1, 0)},
		{"a ratio without benchmarks that crosses to the other side must be confirmed again", Defaults(), 1.2, in(none, none, goodOver(1.5, 0), goodOver(1.5, 0)),
			is(1.2, 1.2/1.1, 1.2/1.1, 1.2)},
		{"turns around when there is an estimate again and it is confirmed", Defaults(), 1.5, in(none, none, none, good(1.5), good(1.5), good(1.5), good(1.5)),
			is(1.5, 1.5/1.1, 1.5/1.21, 1.5/1.21, 1.5/1.1, 1.5, 1.5)},
		{"an estimate equal to the end target must be confirmed separately", Defaults(), 1.5, in(none, good(1.2), good(1.2)), is(1.5, 1.5, 1.5/1.1)},
		{"an estimate within the dead band stops an ending ratio", Defaults(), 1.2, in(none, none, good(1.12), good(1.12)), is(1.2, 1.2/1.1, 1.2/1.1, 1.2/1.1)},
		{"an invalid estimate counts as none", Defaults(), 1.05, in(good(math.NaN()), good(math.Inf(1)), good(-1)), is(1.05, 1, 0)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := State{Baseline: "n2d", Ratio: tc.from, Judged: start}
			var got []float64
			for i, input := range tc.inputs {
				s = Next(s, input, start.Add(time.Duration(i+1)*time.Hour), tc.settings)
				got = append(got, s.Ratio)
			}
			if diff := cmp.Diff(tc.want, got, nearly); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func aChangedBaselineResetsTheState(t *testing.T) {
	s := State{Baseline: "n2d", Ratio: 1.25, Judged: start, Confirmed: 1, Direction: 1, Changed: start}
	in := Input{Baseline: "n4", Estimate: 0.8, Below: 0.9}
	hour := func(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }
	for i, want := range []State{
		{Baseline: "n4", Judged: hour(1), Confirmed: 1, Direction: -1},
		{Baseline: "n4", Judged: hour(2), Confirmed: 2, Direction: -1, Moving: true, Ratio: 0.9 / 1.1, Changed: hour(2)},
		{Baseline: "n4", Judged: hour(3), Ratio: 0.8, Changed: hour(3)},
	} {
		if s = Next(s, in, hour(i+1), Defaults()); !cmp.Equal(want, s, nearly) {
			t.Errorf("window %d: %s", i+1, cmp.Diff(want, s, nearly))
		}
	}
}

func aMovingStateWithoutConfirmationsIsConfirmedFirst(t *testing.T) {
	s := State{Baseline: "n2d", Ratio: 1, Judged: start, Direction: 1, Moving: true}
	for i, want := range []float64{1, 1.1} {
		if s = Next(s, good(1.5), start.Add(time.Duration(i+1)*time.Hour), Defaults()); s.Ratio != want {
			t.Errorf("after %d windows, the ratio is %v, want %v", i+1, s.Ratio, want)
		}
	}
}

func returnsTheTargetOfARatio(t *testing.T) {
	moving := State{Baseline: "n2d", Ratio: 1.1, Confirmed: 2, Direction: 1, Moving: true}
	ending := State{Baseline: "n2d", Ratio: 1.1, Confirmed: 1, Ending: true}
	for _, tc := range []struct {
		name  string
		state State
		in    Input
		want  float64
	}{
		{"the clamped estimate", moving, good(3), 2},
		{"the ratio without benchmarks", ending, goodOver(0.9, 0), 0.9},
		{"the ratio itself if it does not move", State{Baseline: "n2d", Ratio: 1.1}, good(1.2), 1.1},
		{"the ratio itself if the estimate is held back", moving, held, 1.1},
		{"the ratio itself if the baseline changed", moving, Input{Baseline: "n4", Estimate: 2, Below: 1}, 1.1},
		{"0 without a ratio", State{}, Input{}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.state.Target(tc.in, Defaults()); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func aStateIsEmptyWhenThereIsNothingToRemember(t *testing.T) {
	for s, want := range map[State]bool{
		{}: true, {Baseline: "n2d", Judged: start, Changed: start}: true,
		{Ratio: 1}: false, {Confirmed: 1, Direction: 1}: false,
	} {
		if got := s.Empty(); got != want {
			t.Errorf("%+v: %v", s, got)
		}
	}
}

func aStateSurvivesJSON(t *testing.T) {
	states := []State{{}}
	for i, input := range []Input{good(1.5), good(1.5), good(1.5), held, none, none, none, none} {
		states = append(states, Next(states[i], input, start.Add(time.Duration(i)*time.Hour), Defaults()))
	}
	if !slices.ContainsFunc(states, func(s State) bool { return s.Moving && s.Ending }) {
		t.Fatalf("no ending state in %+v", states)
	}
	for _, s := range states {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var read State
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if read != s {
			t.Errorf("%s became %+v", text, read)
		}
	}
	text, err := json.Marshal(State{Baseline: "n2d", Judged: start})
	if want := fmt.Sprintf(`{"baseline":"n2d","judged":%q}`, start.Format(time.RFC3339)); err != nil || string(text) != want {
		t.Errorf("a state at rest is %s, %v", text, err)
	}
}
