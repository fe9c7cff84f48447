package pace

import (
	"cmp"
	"math"
	"time"
)

// Settings control how ratios follow estimates.
type Settings struct {
	// DeadBand is the relative difference up to which a target is not followed, e.g. 0.05.
	DeadBand float64
	// Windows is the number of consecutive windows that must confirm a change,
	// and Window the length of one; the minimums are 1 and one second.
	Windows int
	Window  time.Duration
	// MaxStepPerHour is the maximum relative change in a ratio, e.g. 0.1.
	MaxStepPerHour float64
	// Min and Max are the bounds that targets are clamped to.
	Min, Max float64
}

// window is long enough for new samples of several nodes, and short enough that a confirmed change takes hours, not days.
const window = time.Hour

// Defaults returns conservative settings.
func Defaults() Settings {
	return Settings{DeadBand: 0.05, Windows: 2, Window: window, MaxStepPerHour: 0.1, Min: 0.5, Max: 2}
}

// State is the memory of one node type between windows. It is stored as this JSON.
type State struct {
	// Baseline is the node type that Ratio is relative to.
	Baseline string `json:"baseline"`
	// Ratio is the published ratio; 0 if there is none.
	Ratio float64 `json:"ratio,omitempty"`
	// Judged is the end of the last window that was judged.
	Judged time.Time `json:"judged"`
	// Confirmed is the number of consecutive windows that have confirmed a move
	// up (Direction 1) or down (-1). Ending means that the ratio ends when it
	// reaches the target.
	Confirmed int  `json:"confirmed,omitempty"`
	Direction int  `json:"direction,omitempty"`
	Ending    bool `json:"ending,omitempty"`
	// Moving means that the move is confirmed and the ratio moves in steps.
	Moving bool `json:"moving,omitempty"`
	// Changed is the end of the window that last changed Ratio.
	Changed time.Time `json:"changed,omitzero"`
}

// Input has the current inputs of a judgment of one node type. Ratios are relative to Baseline.
type Input struct {
	Baseline string
	// Estimate is the target; 0 if there are too few measurements for one.
	Estimate float64
	// Low and High are the ends of the confidence interval of Estimate: a move does not
	// start from a ratio within it. They are 0 if it is not known.
	Low, High float64
	// HeldBack means that the measurements are enough, but not certain: the ratio does
	// not change.
	HeldBack bool
	// Below is the ratio that would be in effect without the source: the ratio
	// starts from it and returns to it. It is 1 if no other source knows the node
	// type.
	Below float64
}

// Next judges the last window that ended before now. A window that has been judged already
// changes nothing. Several missed windows count as one. A ratio relative to another baseline is
// forgotten.
func Next(s State, in Input, now time.Time, settings Settings) State {
	end := settings.windowEnd(now)
	since, judge := settings.elapsed(s.Judged, end)
	if !judge {
		return s
	}
	if s.Baseline != in.Baseline {
		s = State{Baseline: in.Baseline}
	}
	if !positive(s.Ratio) {
		s.Ratio = 0
	}
	s.Judged = end
	if in.HeldBack {
		return s.rest()
	}
	return s.follow(in, since, settings)
}

// follow judges a window.
func (s State) follow(in Input, since time.Duration, settings Settings) State {
	target, below := in.toward(settings), in.below()
	from := s.Ratio
	if from == 0 {
		from = below
	}
	ending := target == 0
	if ending {
		if s.Ratio == 0 {
			return s.rest()
		}
		target = below
	}
	direction := cmp.Compare(target, from)
	same := s.Confirmed > 0 && s.Ending == ending && (s.Direction == direction || ending && target == from)
	moving := same && s.Moving
	if !ending && (target == from || !moving && (settings.within(target, from) || in.covers(from))) {
		return s.rest()
	}
	if !same {
		s = s.rest()
	}
	s.Ending, s.Direction, s.Confirmed = ending, direction, s.Confirmed+1
	if needed := max(settings.Windows, 1); s.Confirmed >= needed {
		s.Confirmed, s.Moving = needed, true
	}
	if !s.Moving {
		return s
	}
	if ending && target == from {
		s.Ratio, s.Changed = 0, s.Judged
		return s.rest()
	}
	s.Ratio, s.Changed = settings.step(from, target, since), s.Judged
	if ending || s.Ratio != target {
		return s
	}
	return s.rest()
}

// rest resets the confirmations.
func (s State) rest() State {
	s.Confirmed, s.Direction, s.Ending, s.Moving = 0, 0, false, false
	return s
}

// Target returns the ratio that the node type moves toward, or will move toward after it is
// confirmed; the current ratio if it does not move.
func (s State) Target(in Input, settings Settings) float64 {
	target := in.toward(settings)
	switch {
	case s.Confirmed == 0 || in.HeldBack || s.Baseline != in.Baseline:
		return s.Ratio
	case target == 0:
		return in.below()
	}
	return target
}

// Empty reports whether there is nothing to remember about the node type.
func (s State) Empty() bool { return s.Ratio == 0 && s.Confirmed == 0 }

// toward returns the estimate, clamped to Min and Max; 0 if there is none.
func (in Input) toward(settings Settings) float64 {
	if !positive(in.Estimate) {
		return 0
	}
	return min(max(in.Estimate, settings.Min), settings.Max)
}

// covers reports whether a ratio is within the confidence interval, so that it may be right.
func (in Input) covers(ratio float64) bool { return in.Low <= ratio && ratio <= in.High }

func (in Input) below() float64 {
	if !positive(in.Below) {
		return 1
	}
	return in.Below
}

func positive(f float64) bool { return f > 0 && !math.IsInf(f, 0) }
