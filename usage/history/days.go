package history

import (
	"math"
	"slices"
	"time"
)

// Days has the highest amount of each of the last eight days. There is one for each container of each pod, so it
// takes only 20 bytes. The zero value has no amounts.
type Days struct {
	// Last is the newest day with an amount, in days since 1970.
	Last int32
	// Codes are of this day and of those before it. They are 0 where there is no amount, or else the binary logarithm
	// of the amount in parts of 1/octave, rounded up, plus 1: at most 0.07% more than the amount.
	Codes [days]uint16
}

const (
	days   = 8
	octave = 1024
)

func dayOf(at time.Time) int32 { return int32(at.Unix() / int64(24*time.Hour/time.Second)) }

// Note notes an amount of a time, in any order. Amounts of less than 1 are no amounts.
func (d *Days) Note(at time.Time, amount int64) {
	if amount < 1 || at.Unix() < 0 {
		return
	}
	day := dayOf(at)
	if *d == (Days{}) {
		d.Last = day
	}
	if newer := day - d.Last; newer > 0 {
		var codes [days]uint16
		if newer < days {
			copy(codes[newer:], d.Codes[:])
		}
		d.Last, d.Codes = day, codes
	}
	if age := d.Last - day; age < days {
		d.Codes[age] = max(d.Codes[age], uint16(math.Ceil(octave*math.Log2(float64(min(amount, most)))))+1)
	}
}

// Highest returns the highest amount of today and the seven days before; 0 if there is none.
func (d *Days) Highest(now time.Time) int64 {
	highest, today := uint16(0), dayOf(now)
	for age, code := range d.Codes {
		if today-(d.Last-int32(age)) < days {
			highest = max(highest, code)
		}
	}
	return amountOf(highest)
}

// highest returns the highest amount of all days.
func (d *Days) highest() int64 { return amountOf(slices.Max(d.Codes[:])) }

// amountOf returns the amount of a code.
func amountOf(code uint16) int64 {
	if code == 0 {
		return 0
	}
	return int64(math.Ceil(math.Exp2(float64(code-1) / octave)))
}

// Day returns the beginning of the newest day with an amount.
func (d *Days) Day() time.Time { return time.Unix(int64(d.Last)*int64(24*time.Hour/time.Second), 0) }

// rewind makes the newest day today if it lies in the future.
func (d *Days) rewind(now time.Time) { d.Last = min(d.Last, dayOf(now)) }
