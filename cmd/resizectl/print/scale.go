package print

import (
	"cmp"
	"math"
	"strings"
)

// Spot is a number on a scale, and where the true number is with some confidence: Low and High are 0 if that is not known.
type Spot struct{ Value, Low, High float64 }

// Ranged reports whether a spot has an interval.
func (s Spot) Ranged() bool { return drawable(s.Low) && drawable(s.High) && s.Low <= s.High }

// Drawn reports whether a scale has room for a spot.
func (s Spot) Drawn() bool { return drawable(s.Value) }

// drawable reports whether a number is the ratio of two speeds that a scale has room for.
func drawable(ratio float64) bool { return ratio > 0 && ratio < 1e6 }

// Scale is an axis on which ratios are compared with each other and with 1.
type Scale struct{ low, high float64 }

// roomForIntervals is how far beyond all numbers intervals may make a scale reach, in widths of all numbers. Those of a few scores can
// span two powers of ten, next to which the numbers themselves would be one dot.
const roomForIntervals = 2

// ScaleOf returns a scale with room for these spots and for 1. Intervals that are much wider end at its ends.
func ScaleOf(spots ...Spot) Scale {
	s := Scale{1, 1}
	for _, spot := range spots {
		if spot.Drawn() {
			s.low, s.high = min(s.low, spot.Value), max(s.high, spot.Value)
		}
	}
	room := roomForIntervals * cmp.Or(s.high-s.low, 0.1)
	low, high := s.low-room, s.high+room
	for _, spot := range spots {
		if spot.Drawn() && spot.Ranged() {
			s.low, s.high = min(s.low, max(low, spot.Low)), max(s.high, min(high, spot.High))
		}
	}
	return s
}

// At returns where a ratio is on the scale, from 0 to 1.
func (s Scale) At(ratio float64) float64 {
	if s.low == s.high {
		return 0.5
	}
	return min(max((ratio-s.low)/(s.high-s.low), 0), 1)
}

// Cuts reports whether the interval of a spot goes on below and above the scale.
func (s Scale) Cuts(spot Spot) (below, above bool) { return spot.Low < s.low, spot.High > s.high }

// Draw returns a line with a spot and its interval, and with where 1 is. An arrow means that the interval goes on there. All lines of a scale
// have the same width.
func (s Scale) Draw(spot Spot, width int) string {
	line := []rune(strings.Repeat(" ", width))
	line[s.Column(1, width)] = '│'
	at := s.Column(spot.Value, width)
	if spot.Ranged() {
		from, to := min(s.Column(spot.Low, width), at), max(s.Column(spot.High, width), at)
		for i := from; i <= to; i++ {
			line[i] = map[rune]rune{' ': '─', '│': '┼'}[line[i]]
		}
		line[from], line[to] = '├', '┤'
		below, above := s.Cuts(spot)
		if below {
			line[from] = '←'
		}
		if above {
			line[to] = '→'
		}
	}
	if spot.Drawn() {
		line[at] = '●'
	}
	return string(line)
}

// Column returns the column of a ratio in lines of a width.
func (s Scale) Column(ratio float64, width int) int {
	return int(math.Round(s.At(ratio) * float64(width-1)))
}
