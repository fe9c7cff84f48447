package checkpoint

import (
	"math"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// packPeaks returns the message of peaks; nil if none is known.
func packPeaks(d *history.Days) *storedv2.Peaks {
	if *d == (history.Days{}) {
		return nil
	}
	m := &storedv2.Peaks{Day: d.Last}
	for _, code := range d.Codes {
		m.Peaks = append(m.Peaks, uint32(code))
	}
	return m
}

// unpackPeaks returns the peaks of a message, which may be nil.
func unpackPeaks(m *storedv2.Peaks) (d history.Days, err error) {
	if m == nil {
		return d, nil
	}
	if len(m.Peaks) < len(d.Codes) || m.Day < 0 {
		return d, errIncomplete
	}
	d.Last = m.Day
	for i := range d.Codes {
		d.Codes[i] = uint16(min(m.Peaks[i], math.MaxUint16))
	}
	return d, nil
}
