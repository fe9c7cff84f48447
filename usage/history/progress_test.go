package history

import (
	"errors"
	"testing"
	"time"
)

// measured is a measurement of five minutes of a source, and what comes of it.
type measured struct {
	rank   uint8
	minute int
	want   error
}

func TestSources(t *testing.T) {
	const first, second, third = 0, 1, 2
	for name, series := range map[string][]measured{
		"counts the source that is alone, whatever its rank": {{second, 5, nil}, {second, 10, nil}, {second, 10, ErrRepeated}, {second, 5, ErrRepeated}},
		"lets others stand by while the preferred one is fresh": {
			{first, 5, nil}, {second, 8, ErrStandby}, {second, 20, ErrStandby}, {second, 21, nil}, {third, 26, ErrStandby},
		},
		"counts no time twice if the preferred one comes later": {
			{second, 10, nil}, {second, 15, nil}, {first, 5, nil}, {first, 10, ErrRepeated}, {first, 15, ErrRepeated}, {first, 20, nil},
		},
		"counts what the preferred one measured before another began": {
			{second, 60, nil}, {first, 40, nil}, {first, 45, nil}, {first, 55, nil}, {first, 60, ErrRepeated}, {first, 65, nil}, {second, 65, ErrRepeated},
		},
		"counts what the preferred one measured in the time in which another still stood by": {
			{first, 5, nil}, {second, 25, nil}, {second, 30, nil}, {first, 10, nil}, {first, 15, nil}, {first, 20, nil}, {first, 25, ErrRepeated}, {first, 30, ErrRepeated}, {first, 35, nil},
			{second, 51, nil}, {first, 40, nil}, {first, 45, nil}, {first, 50, ErrRepeated},
		},
		"lets others stand by even if the preferred one is always later": {
			{second, 5, nil}, {second, 9, nil}, {first, 5, ErrRepeated}, {second, 10, ErrStandby}, {first, 10, ErrRepeated}, {second, 14, ErrStandby}, {first, 15, nil}, {second, 31, nil},
		},
		"lets others stand by again after the preferred one was silent": {
			{first, 5, nil}, {second, 21, nil}, {second, 26, nil}, {second, 31, nil}, {first, 10, nil}, {first, 15, nil}, {first, 20, ErrRepeated}, {first, 25, ErrRepeated},
			{first, 30, ErrRepeated}, {second, 34, ErrStandby}, {first, 35, nil}, {second, 40, ErrStandby},
		},
		"counts what comes late in a hole, in order": {
			{first, 5, nil}, {first, 10, nil}, {first, 40, nil}, {first, 10, ErrRepeated}, {first, 15, nil}, {first, 30, nil}, {first, 25, ErrRepeated},
			{first, 35, nil}, {first, 40, ErrRepeated}, {first, 35, ErrRepeated},
		},
		"keeps the longest of the newest holes": {
			{first, 5, nil}, {first, 60, nil}, {first, 70, nil}, {first, 65, ErrRepeated}, {first, 10, nil},
			{first, 255, nil}, {first, 15, ErrRepeated}, {first, 75, nil},
		},
		"forgets a long hole when it is too old": {
			{first, 5, nil}, {first, 60, nil}, {first, 65, nil}, {first, 70, nil}, {first, 85, nil}, {first, 15, nil},
			{first, 90, nil}, {first, 130, nil}, {first, 170, nil}, {first, 205, nil}, {first, 235, nil}, {first, 245, nil}, {first, 20, ErrRepeated}, {first, 240, nil},
		},
		"keeps the newest of holes of the same length": {
			{first, 5, nil}, {first, 15, nil}, {first, 25, nil}, {first, 10, ErrRepeated}, {first, 20, nil},
		},
		"counts a backfill that failed at first, in order": {
			{first, 60, nil}, {first, 65, nil}, {first, 20, nil}, {first, 20, ErrRepeated}, {first, 25, nil}, {first, 40, nil}, {first, 30, ErrRepeated}, {first, 45, nil},
			{first, 50, nil}, {first, 57, nil}, {first, 58, ErrRepeated}, {first, 70, nil}, {first, 10, nil}, {first, 15, nil}, {first, 20, ErrRepeated}, {first, 25, ErrRepeated}, {first, 75, nil},
		},
		"counts half a measurement before all others":        {{first, 60, nil}, {first, 58, ErrRepeated}, {first, 57, nil}, {first, 55, ErrRepeated}, {first, 65, nil}, {first, 59, ErrRepeated}},
		"counts no backfill twice that another source fills": {{first, 60, nil}, {second, 30, nil}, {first, 30, ErrRepeated}, {first, 25, nil}, {second, 25, ErrRepeated}, {first, 30, ErrRepeated}, {first, 35, nil}},
		"counts measurements of one source that overlap":     {{first, 5, nil}, {first, 7, nil}, {first, 8, nil}},
		"lets others fill a hole": {
			{first, 5, nil}, {first, 60, nil}, {second, 30, nil}, {first, 30, ErrRepeated}, {first, 35, nil},
		},
		"takes less than half a measurement for none":         {{first, 5, nil}, {first, 12, nil}, {first, 7, ErrRepeated}, {first, 20, nil}, {first, 15, nil}},
		"counts half a measurement that another one overlaps": {{second, 5, nil}, {first, 7, ErrRepeated}, {first, 8, nil}},
		"does not let a preferred source stand by":            {{second, 5, nil}, {first, 10, nil}, {third, 13, ErrStandby}},
		"counts what others measured before the preferred one": {
			{first, 60, nil}, {second, 30, nil}, {second, 55, nil}, {second, 60, ErrRepeated},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			samples := 0
			for i, m := range series {
				at := began.Add(time.Duration(m.minute) * time.Minute)
				err := f.Record(web, Sample{Pod: slow, At: at, Length: 5 * time.Minute, Usage: 100, Rank: m.rank}, f.now(at))
				if !errors.Is(err, m.want) {
					t.Errorf("%d: source %d at minute %d: %v, want %v", i, m.rank, m.minute, err, m.want)
				}
				if m.want == nil {
					samples++
				}
			}
			if v, _ := f.View(web, f.clock); v.Types[0].Samples != samples {
				t.Errorf("%d samples, want %d", v.Types[0].Samples, samples)
			}
		})
	}
	t.Run("takes half a measurement for no hole", func(t *testing.T) {
		for gap, want := range map[time.Duration]error{2 * time.Minute: ErrRepeated, 2*time.Minute + 1: nil} {
			f := newFixture(t)
			for i, after := range []time.Duration{0, gap + 4*time.Minute, 3 * time.Minute} {
				at := began.Add(after)
				err := f.Record(web, Sample{Pod: slow, At: at, Length: 4 * time.Minute}, f.now(at))
				if i < 2 && err != nil || i == 2 && !errors.Is(err, want) {
					t.Errorf("%v, %d: %v, want %v", gap, i, err, want)
				}
			}
		}
	})
	t.Run("takes nothing late if it must be as in the VPA", func(t *testing.T) {
		f := newFixture(t)
		f.options.Compat = true
		f.cpu(slow, began, 100)
		f.cpu(slow, began.Add(time.Hour), 100)
		for _, after := range []time.Duration{time.Minute, -time.Minute} {
			if err := f.Record(web, Sample{Pod: slow, At: began.Add(after)}, f.clock); !errors.Is(err, ErrRepeated) {
				t.Errorf("%v: %v", after, err)
			}
		}
	})
	t.Run("counts a moment once", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began.Add(-time.Minute), 100)
		f.cpu(slow, began, 100)
		for rank := range uint8(3) {
			if err := f.Record(web, Sample{Pod: slow, At: began, Rank: rank}, began); !errors.Is(err, ErrRepeated) {
				t.Errorf("source %d: %v", rank, err)
			}
		}
	})
	t.Run("takes the highest memory of all of them", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100e6)
		for i, usage := range []int64{200e6, 300e6, 250e6} {
			s := Sample{Pod: slow, Resource: Memory, At: began.Add(time.Duration(10-i) * time.Minute), Usage: usage, Rank: uint8(i)}
			err := f.Record(web, s, f.now(s.At))
			if want := []error{nil, nil, ErrRepeated}[i]; !errors.Is(err, want) {
				t.Errorf("%d: %v, want %v", i, err, want)
			}
		}
		f.want("n2d", "305M:100")
	})
}
