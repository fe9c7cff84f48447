package checkpoint

import (
	"math"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// daysOf returns all days of floors, in the order in which they are stored.
func daysOf(f *history.Floors) [4]*history.Days {
	return [...]*history.Days{&f.Requests[history.CPU], &f.Limits[history.CPU], &f.Requests[history.Memory], &f.Limits[history.Memory]}
}

// packFloors returns the message of floors, which may be nil.
func packFloors(f *history.Floors) *storedv2.Floors {
	if f == nil {
		return nil
	}
	m := &storedv2.Floors{}
	for _, d := range daysOf(f) {
		m.Days = append(m.Days, d.Last)
		for _, code := range d.Codes {
			m.Amounts = append(m.Amounts, uint32(code))
		}
	}
	return m
}

// unpackFloors returns the floors of a message, which may be nil.
func unpackFloors(m *storedv2.Floors) (*history.Floors, error) {
	if m == nil {
		return nil, nil
	}
	f := &history.Floors{}
	for i, d := range daysOf(f) {
		if len(m.Days) <= i || len(m.Amounts) < (i+1)*len(d.Codes) || m.Days[i] < 0 {
			return nil, errIncomplete
		}
		d.Last = m.Days[i]
		for k := range d.Codes {
			d.Codes[k] = uint16(min(m.Amounts[i*len(d.Codes)+k], math.MaxUint16))
		}
	}
	return f, nil
}
