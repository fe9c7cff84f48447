package pace

import (
	"cmp"
	"math"
	"time"
)

// Settings say how calm ratios are.
type Settings struct {
	// DeadBand is by what share a target must differ to be followed, e.g. 0.05.
	DeadBand float64
	// Windows is how many windows in a row must say so, and Window how long one
	// is; less than 1 and less than a second count as that.
	Windows int
	Window  time.Duration
	// MaxStepPerHour is by what share a ratio changes at most, e.g. 0.1.
	MaxStepPerHour float64
	// Min and Max are what a target is clamped to.
	Min, Max float64
}

// Defaults are calm.
func Defaults() Settings {
	return Settings{DeadBand: 0.05, Windows: 2, Window: time.Hour, MaxStepPerHour: 0.1, Min: 0.5, Max: 2}
}

// State is what is remembered of one node type between windows. Its JSON is how
// it is kept.
type State struct {
	// Baseline is what Ratio is relative to.
	Baseline string `json:"baseline"`
	// Ratio is the one in force; 0 if there is none.
	Ratio float64 `json:"ratio,omitempty"`
	// Judged is the end of the last window that was judged.
	Judged time.Time `json:"judged"`
	// Confirmed is how many windows in a row have said that the ratio is to move
	// up (Direction 1) or down (-1); Ending tells that it is to go there to end.
	Confirmed int  `json:"confirmed,omitempty"`
	Direction int  `json:"direction,omitempty"`
	Ending    bool `json:"ending,omitempty"`
	// Moving tells that the ratio is on its way, in steps, since it was confirmed.
	Moving bool `json:"moving,omitempty"`
	// Changed is the end of the window that last changed Ratio.
	Changed time.Time `json:"changed,omitzero"`
}

// Input is what is known of the node type now. Ratios are relative to Baseline.
type Input struct {
	Baseline string
	// Estimate is the target; 0 if there is not enough to tell one.
	Estimate float64
	// HeldBack tells that there is enough, but that it does not agree: the ratio
	// stays what it is.
	HeldBack bool
	// Below is what would be in force without benchmarks: where the ratio starts
	// from and goes back to. 1 where nobody else knows the node type.
	Below float64
}

// Next judges the window that ended last before now. A window that was judged
// before changes nothing; several that were missed count as one. A ratio relative
// to another baseline is forgotten.
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
	return s.follow(in.toward(settings), in.below(), since, settings)
}

// follow judges a window whose target is the given one, 0 if there is none.
func (s State) follow(target, below float64, since time.Duration, settings Settings) State {
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
	same := s.Confirmed > 0 && s.Ending == ending && s.Direction == direction
	moving := same && s.Moving
	if !ending && (target == from || !moving && settings.within(target, from)) {
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
	s.Ratio, s.Changed = settings.step(from, target, since), s.Judged
	if s.Ratio != target {
		return s
	}
	if ending {
		s.Ratio = 0
	}
	return s.rest()
}

// rest forgets what was confirmed.
func (s State) rest() State {
	s.Confirmed, s.Direction, s.Ending, s.Moving = 0, 0, false, false
	return s
}

// Target is where the ratio is on its way to, or would be once that is confirmed;
// the ratio itself if it rests.
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

// Empty tells that there is nothing to remember of the node type.
func (s State) Empty() bool { return s.Ratio == 0 && s.Confirmed == 0 }

// toward is the estimate as far as it may be followed; 0 if there is none.
func (in Input) toward(settings Settings) float64 {
	if !positive(in.Estimate) {
		return 0
	}
	return min(max(in.Estimate, settings.Min), settings.Max)
}

func (in Input) below() float64 {
	if !positive(in.Below) {
		return 1
	}
	return in.Below
}

func positive(f float64) bool { return f > 0 && !math.IsInf(f, 0) }
