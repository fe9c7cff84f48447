package checkpoint

import (
	"errors"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// packSteady returns the message of slots, which may be nil. Its times do not count from the newest sample: a version that
// only keeps them changes that.
func packSteady(s *history.Steady, shapes history.Shapes) *storedv2.Steady {
	if s == nil {
		return nil
	}
	return &storedv2.Steady{
		Cpu: packHistogram(&s.CPU, shapes.CPU.HalfLife), Memory: packHistogram(&s.Memory, shapes.Memory.HalfLife),
		CpuSinceSeconds: packSeconds(s.CPUSince), MemorySinceSeconds: packSeconds(s.MemorySince),
	}
}

// unpackSteady returns the slots of a message, which may be nil.
func unpackSteady(m *storedv2.Steady, shapes history.Shapes) (*history.Steady, error) {
	if m == nil {
		return nil, nil
	}
	s := &history.Steady{CPUSince: unpackSeconds(m.CpuSinceSeconds), MemorySince: unpackSeconds(m.MemorySinceSeconds)}
	var errs [2]error
	s.CPU, errs[0] = unpackHistogram(m.Cpu, shapes.CPU)
	s.Memory, errs[1] = unpackHistogram(m.Memory, shapes.Memory)
	return s, errors.Join(errs[:]...)
}
